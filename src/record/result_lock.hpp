// One writer of a result at a time, on one node and over several.
//
// The lock is the kernel's, on a file beside the result, so that it ends with the process that holds it, however that
// ends. The file tells who that is. One that lies there without its process, after a kill, locks nothing.
#pragma once

#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// The right to write a result, held by rank 0 from construction to destruction.
class ResultLock {
 public:
  /// For the result at `path`, whether it is there yet or not; links are followed. Throws UsageError on every rank
  /// where another process has it, saying which, on which host and since when. On a file system without locks it holds
  /// nothing, and says so once. @note Collective.
  ResultLock(const std::string& path, const Communicator& communicator);
  /// Removes the file.
  ~ResultLock();
  ResultLock(const ResultLock&) = delete;
  ResultLock& operator=(const ResultLock&) = delete;

 private:
  void take(const std::string& path);

  std::string file_;
  int descriptor_ = -1;  // on rank 0, while it is held
};

}  // namespace bathline
