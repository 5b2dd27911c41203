// Writing the log to a file as lines of JSON.
#pragma once

#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// Adds a log file of JSON lines; standard error then gets no messages of level `info`. Throws UsageError if the file
/// cannot be written or has other content. @note Collective.
void add_json_log(const std::string& path, const Communicator& world);

}  // namespace bathline
