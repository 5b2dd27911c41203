// A temporary file that is removed when the program ends.
#pragma once

#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// A unique path beside another file. The file is removed by the destructor and by signals that end rank 0; only
/// SIGKILL leaves it. At most one object may exist at a time.
class TemporaryFile {
 public:
  /// Chooses the path, "X.h5.rerun-<random>.h5" for "X.h5", the same on every rank; does not create the file.
  /// @note Collective.
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
