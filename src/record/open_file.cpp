// Creating, opening and closing a file that all ranks write.
// Tested by tests/record/result_file_test.cpp.
#include "record/open_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include "recipe/mistakes.hpp"
#include "record/disk_space.hpp"
#include "record/hdf5_layout.hpp"

namespace bathline {

namespace {

/// Space reserved beyond the data, for HDF5's metadata.
constexpr std::int64_t margin = std::int64_t{1} << 20;

/// Allowance for the headers, attributes and heaps that one operation adds.
constexpr std::int64_t metadata_of_an_operation = 8 * 1024;

/// The margin that must be available. It is smaller for metadata and closing, so that on a full disk the status can
/// still be set and the file closed.
std::int64_t margin_for(Purpose purpose) {
  switch (purpose) {
    case Purpose::data:
      return margin;
    case Purpose::metadata:
      return margin / 2;
    case Purpose::closing:
      break;
  }
  return margin / 4;
}

/// Seconds that a failed rank, or a rank in the destructor, waits for the votes of the others.
constexpr double failure_timeout = 120.0;
constexpr double destructor_timeout = 10.0;
/// Seconds that MPI_Finalize may take after a failed write.
constexpr double exit_timeout = 60.0;
constexpr double forever = std::numeric_limits<double>::infinity();

/// The vote of a rank that abandons the file; other votes are its rank (failed) or the number of ranks (succeeded).
constexpr int abandons = -1;

/// Exit code of a run that ends because its ranks are out of step; flushed data are in the file.
constexpr int exit_code_of_failure = 3;

/// Ends the program after a timeout.
void exit_after(double seconds) {
  std::thread([seconds] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    fmt::print(stderr, "bathline: a file could not be closed after a failed write\n");
    std::fflush(nullptr);
    _exit(exit_code_of_failure);
  }).detach();
}

/// Keeps HDF5 from closing open files in MPI_Finalize: after a failed write its ranks may wait for each other for ever
/// there, or HDF5 may crash. Flushed data are on the disk by then. HDF5 closes its files when an attribute of
/// MPI_COMM_SELF is deleted; attributes are deleted in reverse order, and Open MPI stops at the first that cannot be.
/// If another MPI goes on, the program ends after a timeout.
void leave_files_open() {
  const auto fail_to_delete = [](MPI_Comm, int, void*, void*) -> int {
    exit_after(exit_timeout);
    return MPI_ERR_OTHER;
  };
  static int key = MPI_KEYVAL_INVALID;
  if (key != MPI_KEYVAL_INVALID) return;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, fail_to_delete, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

/// Outcome of rank 0's attempt to create the file.
struct CreateStatus {
  enum Kind : std::int64_t { good, usage, failure };
  Kind kind = good;
  std::string message;  ///< if not good
  std::string target;   ///< if good: the file that the new one replaces, links followed
  std::string scratch;  ///< if good: the empty file that was created; the target itself if there was no predecessor
};

CreateStatus failure_of(const std::string& path, const std::string& reason) {
  return {CreateStatus::failure, fmt::format("cannot write {}: {}", path, reason), "", ""};
}

/// Creates an empty file, under a temporary name if the file exists already; else says why that is impossible.
CreateStatus prepare(const std::string& path, bool overwrite) {
  namespace fs = std::filesystem;
  const CreateStatus refusal{CreateStatus::usage, path + " exists already; use --overwrite to replace it", "", ""};
  std::error_code ignored;
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (!fs::exists(folder, ignored)) {
    return failure_of(path,
                      fmt::format("there is no directory {} ({})", folder.string(), system_error_message(ENOENT)));
  }

  CreateStatus status{CreateStatus::good, "", path, path};
  if (fs::exists(path, ignored)) {
    if (!overwrite) return refusal;
    if (fs::is_directory(path, ignored)) return failure_of(path, system_error_message(EISDIR));
    if (!fs::is_regular_file(path, ignored)) return failure_of(path, "it is not a regular file");
    if (access(path.c_str(), W_OK) != 0) return failure_of(path, system_error_message(errno));
    if (!may_be_a_result(path)) {
      return {CreateStatus::usage, path + " is not an HDF5 file, and --overwrite replaces only results", "", ""};
    }
    status.target = fs::canonical(path, ignored).string();
    status.scratch = fmt::format("{}.new-{}", status.target, getpid());
    fs::remove(status.scratch, ignored);  // left by an earlier process with the same id
  }
  const int descriptor = ::open(status.scratch.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno == EEXIST && !overwrite ? refusal : failure_of(path, system_error_message(errno));
  const int error = preallocate(descriptor, 0, margin);
  ::close(descriptor);
  if (error != 0) {
    fs::remove(status.scratch, ignored);
    return failure_of(path, system_error_message(error));
  }
  return status;
}

}  // namespace

bool may_be_a_result(const std::string& path) {
  std::array<char, 8> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return begin == std::array<char, 8>{} || H5Fis_hdf5(path.c_str()) > 0;
}

OpenFile::OpenFile(const std::string& path, const Communicator& communicator, bool overwrite)
    : path_(path), communicator_(communicator) {
  hdf5::prepare_library();
  CreateStatus status = communicator.is_root() ? prepare(path, overwrite) : CreateStatus{};
  std::int64_t kind = status.kind;
  communicator.broadcast(std::span<std::int64_t>(&kind, 1));
  status.message = communicator.broadcast(status.message);
  if (kind == CreateStatus::usage) throw UsageError(status.message);
  if (kind == CreateStatus::failure) throw FileError(status.message);

  scratch_ = communicator.broadcast(status.scratch);
  const std::string target = communicator.broadcast(status.target);
  MPI_Comm_dup(mpi_comm(communicator), &comm_);
  try {
    create(target);
  } catch (...) {
    remove_scratch();
    give_up();
    throw;
  }
}

OpenFile::OpenFile(const std::string& path, const Communicator& communicator)
    : path_(path), communicator_(communicator), is_continued_(true) {
  hdf5::prepare_library();
  MPI_Comm_dup(mpi_comm(communicator), &comm_);
  try {
    open_on_all_ranks(path, OpenMode::existing);
    flush();
  } catch (...) {
    give_up();
    throw;
  }
}

/// Opens the scratch file and, if that succeeds on all ranks, renames it to the target.
void OpenFile::create(const std::string& target) {
  open_on_all_ranks(scratch_, OpenMode::create);
  flush();
  on_root("renaming it", [&] {
    if (scratch_ != target && std::rename(scratch_.c_str(), target.c_str()) != 0) {
      throw hdf5::Failure(system_error_message(errno));
    }
  });
  scratch_.clear();
}

void OpenFile::open_on_all_ranks(const std::string& path, OpenMode mode) {
  const bool is_new = mode == OpenMode::create;
  const std::string operation = is_new ? "creating it" : "opening it";
  // MPI-IO may hang if some ranks cannot see the file, as in a directory that is local to each node.
  run_collectively(operation, [&] {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
      throw hdf5::Failure(fmt::format("rank {}: {}; do all nodes share the directory?", communicator_.rank(),
                                      system_error_message(errno)));
    }
    if (communicator_.is_root()) {
      descriptor_ = descriptor;
    } else {
      ::close(descriptor);
    }
  });
  try {
    run_collectively(operation, [&] {
      const hdf5::PropertyList access = hdf5::access_by(comm_);
      file_ =
          hdf5::File(is_new ? hdf5::check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), "H5Fcreate")
                            : hdf5::check(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.id()), "H5Fopen"));
    });
  } catch (...) {
    if (file_.is_open()) abandon();  // another rank failed
    throw;
  }
}

OpenFile::~OpenFile() {
  if (comm_ == MPI_COMM_NULL) return;  // closed
  const auto votes = vote(abandons, destructor_timeout);
  if (votes && votes->min == abandons && votes->max == abandons && !broken_) {
    try {
      run_collectively("closing it", [&] { hdf5::check(file_.close(), "H5Fclose"); });
      finish();
      return;
    } catch (const FileError&) {
      // Callers that need the error call close().
    }
  }
  abandon();
}

/// Leaves the file as of the last flush, without closing it: closing is collective and might not return.
void OpenFile::abandon() {
  file_.release();
  leave_files_open();
}

/// The end of a constructor that fails on all ranks.
void OpenFile::give_up() {
  if (broken_ && file_.is_open()) abandon();
  finish();
}

void OpenFile::remove_scratch() {
  if (communicator_.is_root() && !scratch_.empty()) std::remove(scratch_.c_str());
}

void OpenFile::finish() {
  if (file_.close() < 0) leave_files_open();
  if (descriptor_ >= 0) {
    release_preallocated(descriptor_);
    ::close(descriptor_);
    descriptor_ = -1;
  }
  MPI_Comm_free(&comm_);
}

std::string OpenFile::error_message(const std::string& operation, const std::string& reason) const {
  return fmt::format("cannot write {} ({}): {}", path_, operation, reason);
}

void OpenFile::reserve(const std::string& operation, std::int64_t bytes, Purpose purpose) {
  std::int64_t error = 0;
  if (communicator_.is_root()) {
    // HDF5 1.10 does not give the size of a parallel file. After a flush the file has the size that HDF5 knows; later
    // additions are counted here.
    struct stat written {};
    if (fstat(descriptor_, &written) != 0) error = errno;
    const std::int64_t added = added_ + bytes + bytes / 512 + metadata_of_an_operation;  // 1/512: index of the chunks
    const std::int64_t end = std::max<std::int64_t>(written.st_size, flushed_ + added);
    // A quarter of the margin may be used up before it is reserved again, since every call to the system takes time.
    const bool is_enough = end + margin_for(purpose) / 4 * 3 <= reserved_;
    const std::int64_t to = is_enough ? reserved_ : std::max(reserved_, end + margin_for(purpose));
    if (error == 0) error = preallocate(descriptor_, reserved_, to);
    if (error == 0) {
      reserved_ = to;
      added_ = added;
    }
  }
  communicator_.broadcast(std::span<std::int64_t>(&error, 1));
  if (error != 0) throw FileError(error_message(operation, system_error_message(static_cast<int>(error))));
}

void OpenFile::run_collectively(const std::string& operation, const std::function<void()>& work) {
  if (broken_) throw FileError(error_message(operation, "an earlier write has failed"));
  std::string problem;
  try {
    work();
  } catch (const std::exception& failure) {
    // MPI-IO reports a full disk only as a short write.
    problem = is_disk_full(path_) ? system_error_message(ENOSPC) : failure.what();
    if (problem.empty()) problem = "unknown failure";
  }
  agree(operation, problem);
}

void OpenFile::on_root(const std::string& operation, const std::function<void()>& work) {
  run_collectively(operation, [&] {
    if (communicator_.is_root()) work();
  });
}

void OpenFile::flush() {
  reserve("flushing it", 0, Purpose::metadata);
  run_collectively("flushing it", [&] { hdf5::check(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "H5Fflush"); });
  struct stat written {};
  if (communicator_.is_root() && fstat(descriptor_, &written) == 0) {
    // HDF5 has truncated the file there.
    reserved_ = flushed_ = written.st_size;
    added_ = 0;
  }
}

void OpenFile::close() {
  const auto users = hdf5::check(H5Fget_obj_count(file_.id(), H5F_OBJ_DATASET | H5F_OBJ_GROUP), "counting users");
  if (users > 0) throw std::logic_error(path_ + " is closed before its writers are destroyed");
  reserve("closing it", 0, Purpose::closing);
  run_collectively("closing it", [&] { hdf5::check(file_.close(), "H5Fclose"); });
  finish();
}

void OpenFile::agree(const std::string& operation, const std::string& problem) {
  const int success = communicator_.size();
  const bool failed = !problem.empty();
  const auto votes = vote(failed ? communicator_.rank() : success, failed ? failure_timeout : forever);
  if (!votes) {
    // The other ranks wait for this one inside HDF5; only ending the run releases them.
    fmt::print(stderr, "bathline: rank {}: {}\n", communicator_.rank(), error_message(operation, problem));
    std::fflush(nullptr);
    MPI_Abort(comm_, exit_code_of_failure);
  }
  if (votes->min == success) return;
  broken_ = true;
  if (votes->min == abandons) throw FileError(error_message(operation, "another rank has abandoned it"));
  throw FileError(error_message(operation, communicator_.broadcast(problem, votes->min)));
}

/// Minimum and maximum of the votes of all ranks, or nothing if they are not complete within `timeout` seconds.
std::optional<OpenFile::Votes> OpenFile::vote(int local_vote, double timeout) {
  struct Messages {
    int sent[2], received[2];
  };
  auto messages = std::make_unique<Messages>(Messages{{local_vote, -local_vote}, {0, 0}});
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(messages->sent, messages->received, 2, MPI_INT, MPI_MIN, comm_, &request);
  if (timeout == forever) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return Votes{messages->received[0], -messages->received[1]};
  }
  const auto start = std::chrono::steady_clock::now();
  int done = 0;
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    if (waited.count() > timeout) {
      messages.release();  // MPI may still write there
      return std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Votes{messages->received[0], -messages->received[1]};
}

}  // namespace bathline
