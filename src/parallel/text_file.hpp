// Small input files that every rank needs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// The text without a byte order mark of UTF-8 at its beginning.
std::string without_byte_order_mark(std::string text);

/// The text of the regular file at `path`, without such a mark; nothing if it cannot be read, or is a pipe or a device,
/// which may have no end.
std::optional<std::string> read_text_file(const std::filesystem::path& path);

/// The same, read by rank 0 for all. @note Collective.
std::optional<std::string> read_text_file_on_root(const std::filesystem::path& path, const Communicator& communicator);

}  // namespace bathline
