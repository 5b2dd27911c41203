// A file that is gone when the program has ended.
#pragma once

#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// A name beside another file that nobody else has chosen, and the end of what is created there: it is removed when
/// this goes, and by a signal that ends rank 0. Only SIGKILL leaves it. One at a time.
class TemporaryFile {
 public:
  /// The same name on every rank, "X.h5.rerun-<random>.h5" for "X.h5". Creates nothing. @note Collective.
  TemporaryFile(const std::string& beside, const Communicator& communicator);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_root_;
};

}  // namespace bathline
