// Checkpoint files, which are complete or absent and suffice to continue a run.
//
// A checkpoint is an HDF5 file with the state, followed by the bytes of the result as it was then and by one line of
// text, the checksum of all bytes before it. HDF5 ignores what follows its own data. A checkpoint is written under a
// temporary name, closed, read back for the checksum, and renamed. A resumed run continues the copy of the result; what
// a killed run has left under the name of the result may be torn or have later records, and is replaced.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parallel/communicator.hpp"
#include "record/guarded_reader.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// `<result>.checkpoint.<step>.h5`, beside the result.
std::string checkpoint_name(const std::string& result, std::int64_t step);

/// An existing checkpoint of a result.
struct CheckpointEntry {
  std::int64_t step = 0;
  std::string path;
};
/// The checkpoints of a result, newest first, and the unfinished files of interrupted writers.
struct CheckpointFiles {
  std::vector<CheckpointEntry> complete;
  std::vector<std::string> unfinished;
};
/// Found by their file names, which takes the longer the more files the folder has. For one rank.
CheckpointFiles find_checkpoint_files(const std::string& result);
std::vector<CheckpointEntry> find_checkpoints(const std::string& result);

/// Removes these files except the newest `keep` checkpoints up to `step`. For one rank.
void prune_checkpoints(const CheckpointFiles& files, std::int64_t step, std::int64_t keep);

/// Appends the checksum line to a closed file and syncs the file to the disk. @note Collective. Throws FileError on
/// every rank.
void append_checkpoint_checksum(const std::string& path, const Communicator& communicator);

/// Writes a checkpoint, which appears under its name at `commit`.
class CheckpointWriter {
 public:
  /// @note Collective. Throws FileError on every rank.
  CheckpointWriter(const std::string& path, const Communicator& communicator);
  /// Removes the temporary file if there was no `commit`.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// The file, for attributes and distributed arrays.
  ResultFile& file() { return *file_; }
  void numbers(const std::string& path, std::span<const double> values) { file_->numbers(path, values); }
  /// Flushes the result, closes the file, appends the copy of the result and the checksum, and renames the file.
  /// @note Collective. Throws FileError on every rank.
  void commit(ResultFile& result);

 private:
  std::string path_;
  std::string scratch_;
  Communicator communicator_;
  std::unique_ptr<ResultFile> file_;
};

/// Converts a non-negative integer that is stored as a double; throws std::out_of_range for other numbers.
std::int64_t count_of(double number);

/// Reads a checkpoint. Its checksum is verified before HDF5 reads it, and a child process reads it first: a file that
/// was made to crash HDF5 can have a valid checksum.
class CheckpointReader {
 public:
  /// @note Collective. Throws FileError on every rank if the file is not a checkpoint, truncated, or damaged.
  CheckpointReader(const std::string& path, GuardedReader& guard, const Communicator& communicator);

  const std::string& path() const { return path_; }
  /// The same on every rank. @note Collective.
  std::string attribute(const std::string& name, const std::string& object = "/") const;
  /// The names in a group, in alphabetical order; none if there is no such group. @note Collective.
  std::vector<std::string> names(const std::string& group) const;
  std::vector<double> numbers(const std::string& path) const;
  /// A list of one non-negative integer; throws FileError for anything else. @note Collective.
  std::int64_t count(const std::string& path) const;
  /// Values [first, first + count) of a list, for this rank. @note Collective.
  std::vector<double> piece(const std::string& path, std::int64_t first, std::int64_t count) const;
  /// Replaces the file at `result`, if any, by the copy in this checkpoint; links are followed. Throws FileError on
  /// every rank, and changes nothing, if the copy is not a result of the same recipe or cannot be written.
  /// @note Collective.
  void restore_result(const std::string& result, GuardedReader& guard) const;
  const ResultReader& reader() const { return *reader_; }

 private:
  std::string path_;
  Communicator communicator_;
  std::unique_ptr<ResultReader> reader_;
};

}  // namespace bathline
