// A lock that permits one writer of a result at a time, on one node and across nodes.
//
// It is a kernel lock on a file beside the result, so that it ends with the process that holds it. The file names that
// process. A file that remains after a kill locks nothing.
#pragma once

#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// The lock of a result, held by rank 0 from construction to destruction.
class ResultLock {
 public:
  /// Locks the result at `path`, which need not exist; links are followed. Throws UsageError on every rank if another
  /// process holds the lock, with its id, host and time. On a file system without locks it locks nothing and warns
  /// once.
  /// @note Collective.
  ResultLock(const std::string& path, const Communicator& communicator);
  /// Unlocks, and removes the lock file.
  ~ResultLock();
  ResultLock(const ResultLock&) = delete;
  ResultLock& operator=(const ResultLock&) = delete;

 private:
  void acquire(const std::string& path);

  std::string file_;
  int descriptor_ = -1;  // on rank 0, while it is held
};

}  // namespace bathline
