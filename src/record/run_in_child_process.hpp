// Running work that may crash in a child process.
#pragma once

#include <functional>
#include <string>

namespace bathline {

/// Runs `work` in a child process, so that a crash of a library that reads a damaged file does not end the program.
/// Returns "" on success, else the reason: the message of the exception, or the signal and the current activity. `work`
/// reports its activity with the function that it is given, at least once a minute; otherwise it is terminated. Results
/// of `work` are lost. For one rank; `work` must not use MPI.
std::string run_in_child_process(
    const std::function<void(const std::function<void(const std::string&)>& report)>& work);

/// Throws FileError, with the name of the file and the reason, unless `work`, which reads the file, succeeds in a child
/// process.
void require_readable(const std::string& path,
                      const std::function<void(const std::function<void(const std::string&)>& report)>& work);

}  // namespace bathline
