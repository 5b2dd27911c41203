// The log as lines of JSON in a file.
#pragma once

#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// Adds the log of JSON lines to the one on standard error, which does not get the messages of the level `info`. Throws
/// UsageError where the file cannot be written or holds something else. @note Collective.
void log_to(const std::string& path, const Communicator& world);

}  // namespace bathline
