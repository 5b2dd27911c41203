// The log as lines of JSON in a file.
#pragma once

#include <string>
#include <string_view>

#include "parallel/communicator.hpp"

namespace bathline {

/// The text as a string of JSON, quotes included.
std::string json_string(std::string_view text);

/// Adds the log of JSON lines to the one on standard error, which does not get the messages of the level `info`. Throws
/// UsageError where the file cannot be written or holds something else. @note Collective.
void log_to(const std::string& path, const Communicator& world);

}  // namespace bathline
