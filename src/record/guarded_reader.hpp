// A child process that reads files before this process does.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace bathline {

/// Reads files first in a child process, so that one that is damaged, or was made to crash HDF5 or to keep it busy for
/// ever, neither ends nor stops the program. The child process begins with the first file and ends with this object.
/// For one rank.
class GuardedReader {
 public:
  /// Reads a file in the child process, without MPI. Calls `report` with what it does at least once a minute, otherwise
  /// it is terminated.
  using Read = std::function<void(const std::string& path, const std::string& prefix,
                                  const std::function<void(const std::string&)>& report)>;
  static constexpr const char* no_values = "/";

  /// @param read  other than of HDF5 files, for tests
  explicit GuardedReader(Read read = read_hdf5);
  ~GuardedReader() { end(); }
  GuardedReader(const GuardedReader&) = delete;
  GuardedReader& operator=(const GuardedReader&) = delete;

  /// Throws FileError, or ExternalLinks, with the path and the reason unless the child process can read all attributes
  /// of the file and the values of the variables whose paths, as "claims/claim", begin with `prefix`.
  void require_readable(const std::string& path, const std::string& prefix);
  /// Ends the child process; returns its status.
  int end();

 private:
  static void read_hdf5(const std::string& path, const std::string& prefix,
                        const std::function<void(const std::string&)>& report);
  void start();

  Read read_;
  pid_t child_ = -1;
  int socket_ = -1;
};

}  // namespace bathline
