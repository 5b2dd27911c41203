// A file that all ranks hold open through MPI-IO, and how they agree on its failures; for .cpp files of record/ only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "parallel/mpi_handle.hpp"
#include "record/hdf5_handle.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// What room on the disk is wanted for.
enum class Purpose { data, metadata, closing };

/// HDF5 can hang when a write fails on one rank while the others wait for it inside the library. So room on the disk is
/// claimed, and the outcome told to all ranks, before any rank enters the library (`reserve`); raw values of rank 0 are
/// written by it alone (`on_root`); and a rank that failed all the same does not wait for ever (`run_collectively`).
class OpenFile {
 public:
  /// @note Collective.
  OpenFile(const std::string& path, const Communicator& communicator, bool overwrite);
  /// Opens a file that is there, to go on writing it. @note Collective.
  OpenFile(const std::string& path, const Communicator& communicator);
  /// Closes unless the ranks do not come together here, as when only one of them is unwinding an exception.
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  hid_t id() const { return file_.id(); }
  bool is_open() const { return file_.is_open(); }
  const std::string& path() const { return path_; }
  const Communicator& communicator() const { return communicator_; }

  /// Makes sure that the disk has room for `bytes` of new values and what HDF5 keeps about them. @note Collective.
  void reserve(const std::string& operation, std::int64_t bytes, Purpose purpose = Purpose::data);
  /// Runs `work` on all ranks. If it fails on any, all throw FileError with the first such rank's reason.
  /// @note Collective.
  void run_collectively(const std::string& operation, const std::function<void()>& work);
  /// Runs `work` on rank 0 alone, with the same outcome on all. @note Collective.
  void on_root(const std::string& operation, const std::function<void()>& work);
  /// What is in the file now stays there should the program be killed. @note Collective.
  void flush();
  /// @note Collective.
  void close();

 private:
  void create(const std::string& target);
  enum class Opening { existing, fresh };
  /// @note Collective.
  void open_everywhere(const std::string& place, Opening opening);
  void agree(const std::string& operation, const std::string& problem);
  struct Votes {
    int least, most;
  };
  std::optional<Votes> vote(int mine, double timeout);
  void forget_scratch();
  void finish();
  void abandon();
  std::string complaint(const std::string& operation, const std::string& reason) const;

  std::string path_;
  Communicator communicator_;
  MPI_Comm comm_ = MPI_COMM_NULL;  // our own, so that waiting here cannot be mistaken for anybody else's messages
  hdf5::File file_;
  std::string scratch_;       // where the file is until it may take its place
  int descriptor_ = -1;       // rank 0's own, to claim room
  std::int64_t flushed_ = 0;  // length of the file after the last flush
  std::int64_t added_ = 0;    // what may have come to it since
  std::int64_t claimed_ = 0;  // where the room that was claimed ends
  bool broken_ = false;       // a failure inside HDF5: the ranks may no longer agree on the state of the file
};

struct ResultFile::State {
  std::shared_ptr<OpenFile> file;
};

}  // namespace bathline
