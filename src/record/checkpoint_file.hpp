// Checkpoint files, which are complete or absent and end with a checksum of the whole file.
//
// A checkpoint is an HDF5 file followed by one line of text, which HDF5 ignores: the checksum of all bytes before it.
// It is written under a temporary name, closed, read back for the checksum, and renamed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parallel/communicator.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// `<result>.checkpoint.<step>.h5`, beside the result.
std::string checkpoint_name(const std::string& result, std::int64_t step);

/// An existing checkpoint of a result.
struct CheckpointEntry {
  std::int64_t step = 0;
  std::string path;
};
/// All checkpoints of a result, newest first, found by their file names. For one rank.
std::vector<CheckpointEntry> find_checkpoints(const std::string& result);

/// Removes all checkpoints of a result except the newest `keep` up to `step`, and unfinished files of interrupted
/// writers. For one rank.
void prune_checkpoints(const std::string& result, std::int64_t step, std::int64_t keep);

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
  /// Adds a copy of the result file if that has at most `max_copy_bytes`: a program that is killed while HDF5 flushes
  /// its metadata leaves a result that cannot be opened. The result must have been flushed. @note Collective. Throws
  /// FileError on every rank.
  void keep_copy(const std::string& result);
  static constexpr std::int64_t max_copy_bytes = std::int64_t{64} << 20;
  /// Closes the file, appends the checksum and renames it. @note Collective. Throws FileError on every rank.
  void commit();

 private:
  std::string path_;
  std::string scratch_;
  Communicator communicator_;
  std::unique_ptr<ResultFile> file_;
};

/// Converts a non-negative integer that is stored as a double; throws std::out_of_range for other numbers.
std::int64_t count_of(double number);

/// Reads a checkpoint. Its checksum is verified before HDF5 reads it.
class CheckpointReader {
 public:
  /// @note Collective. Throws FileError on every rank if the file is not a checkpoint, truncated, or damaged.
  CheckpointReader(const std::string& path, const Communicator& communicator);

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
  /// Calls `restore_unreadable_from_copy` on rank 0 and returns whether the result was replaced. Records after the
  /// checkpoint must then be computed again. Throws FileError on every rank. @note Collective.
  bool restore_backup(const std::string& result) const;
  const ResultReader& reader() const { return *reader_; }

 private:
  std::string path_;
  Communicator communicator_;
  std::unique_ptr<ResultReader> reader_;
};

}  // namespace bathline
