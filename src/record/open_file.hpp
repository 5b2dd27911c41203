// A file that all ranks have open through MPI-IO, with common handling of failures. Only for .cpp files of record/.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "parallel/mpi_handle.hpp"
#include "record/hdf5_handle.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// What disk space is reserved for.
enum class Purpose { data, metadata, closing };

/// HDF5 can hang when a write fails on one rank while the others wait for it inside the library. Therefore disk space
/// is reserved, with the outcome sent to all ranks, before any rank enters the library (`reserve`); values of rank 0
/// are written by it alone (`on_root`); and a rank that fails nevertheless waits only for a limited time
/// (`run_collectively`).
class OpenFile {
 public:
  /// @note Collective.
  OpenFile(const std::string& path, const Communicator& communicator, bool overwrite);
  /// Opens an existing file to continue it. @note Collective.
  OpenFile(const std::string& path, const Communicator& communicator);
  /// Closes the file if all ranks arrive here; not if only some of them are unwinding an exception.
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  hid_t id() const { return file_.id(); }
  bool is_continued() const { return is_continued_; }  ///< whether it existed before
  bool is_open() const { return file_.is_open(); }
  const std::string& path() const { return path_; }
  const Communicator& communicator() const { return communicator_; }

  /// Reserves disk space for `bytes` of new values and their metadata. @note Collective.
  void reserve(const std::string& operation, std::int64_t bytes, Purpose purpose = Purpose::data);
  /// Calls `work` on all ranks. If it fails on any, all throw FileError with the reason of the lowest such rank.
  /// @note Collective.
  void run_collectively(const std::string& operation, const std::function<void()>& work);
  /// Calls `work` on rank 0 alone, with the same outcome on all ranks. @note Collective.
  void on_root(const std::string& operation, const std::function<void()>& work);
  /// Data written so far survive if the program is killed. @note Collective.
  void flush();
  /// @note Collective.
  void close();

 private:
  void create(const std::string& target);
  enum class OpenMode { existing, create };
  /// @note Collective.
  void open_on_all_ranks(const std::string& path, OpenMode mode);
  void agree(const std::string& operation, const std::string& problem);
  struct Votes {
    int min, max;
  };
  std::optional<Votes> vote(int local_vote, double timeout);
  void remove_scratch();
  void finish();
  void abandon();
  void give_up();
  std::string error_message(const std::string& operation, const std::string& reason) const;

  std::string path_;
  Communicator communicator_;
  MPI_Comm comm_ = MPI_COMM_NULL;  // a duplicate, so that votes cannot match other messages
  hdf5::File file_;
  std::string scratch_;        // temporary path of a new file until it is renamed
  int descriptor_ = -1;        // of rank 0, to reserve disk space
  std::int64_t flushed_ = 0;   // length of the file after the last flush
  std::int64_t added_ = 0;     // upper bound of the bytes added since
  std::int64_t reserved_ = 0;  // end of the reserved space
  bool is_continued_ = false;
  bool broken_ = false;  // a failure inside HDF5: the ranks may no longer agree on the state of the file
};

struct ResultFile::State {
  std::shared_ptr<OpenFile> file;
  std::string undetermined = {};  // paths of scalars that are NaN
};

}  // namespace bathline
