// Small input files that every rank needs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// The text of the regular file at `path`, read by rank 0; nothing where that cannot be read. @note Collective.
std::optional<std::string> read_shared_file(const std::filesystem::path& path, const Communicator& communicator);

}  // namespace bathline
