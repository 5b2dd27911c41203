// Checkpoints on the disk: complete or not there, with a checksum over all of the file.
//
// A checkpoint is an HDF5 file with one line of text behind its end, which HDF5 does not look at: the checksum of what
// lies before it. It is written under another name, closed, read back for the checksum, and renamed.
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

/// A checkpoint that lies beside its result.
struct FoundCheckpoint {
  std::int64_t step = 0;
  std::string path;
};
/// All of a result, the newest first. Reads the folder; for one rank.
std::vector<FoundCheckpoint> find_checkpoints(const std::string& result);

/// Removes all checkpoints of a result but the newest `keep` that are not beyond `step`, and what interrupted writers
/// have left. For one rank.
void prune_checkpoints(const std::string& result, std::int64_t step, std::int64_t keep);

/// Appends the line with the checksum to a closed file and brings all of it to the disk. @note Collective. Throws
/// FileError on every rank.
void append_checkpoint_checksum(const std::string& path, const Communicator& communicator);

/// A checkpoint in the making.
class CheckpointWriter {
 public:
  /// @note Collective. Throws FileError on every rank.
  CheckpointWriter(const std::string& path, const Communicator& communicator);
  /// Removes what was not finished.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// For attributes, `numbers` and `pieces`.
  ResultFile& file() { return *file_; }
  void numbers(const std::string& path, std::span<const double> values) { file_->numbers(path, values); }
  /// Puts a copy of the result file into it, where that is of at most `largest_copy` bytes: a program that is killed
  /// while HDF5 brings its tables to the disk leaves a result that cannot be opened. The result must have been flushed.
  /// @note Collective. Throws FileError on every rank.
  void keep_copy(const std::string& result);
  static constexpr std::int64_t largest_copy = std::int64_t{64} << 20;
  /// Closes it and puts it in its place. @note Collective. Throws FileError on every rank.
  void commit();

 private:
  std::string path_;
  std::string scratch_;
  Communicator communicator_;
  std::unique_ptr<ResultFile> file_;
};

/// The whole number that a checkpoint holds as one of floating point; throws std::out_of_range where it is none, or
/// negative.
std::int64_t count_of(double number);

/// A checkpoint that has passed its checksum. Its checksum is verified before HDF5 sees a byte of it.
class CheckpointReader {
 public:
  /// @note Collective. Throws FileError on every rank where it is no checkpoint, cut short, or damaged.
  CheckpointReader(const std::string& path, const Communicator& communicator);

  const std::string& path() const { return path_; }
  /// The same on every rank. @note Collective.
  std::string attribute(const std::string& name, const std::string& object = "/") const;
  /// What a group holds, in alphabetical order; nothing where there is no such group. @note Collective.
  std::vector<std::string> names(const std::string& group) const;
  std::vector<double> numbers(const std::string& path) const;
  /// A list that holds no more than a count; throws FileError where it is something else. @note Collective.
  std::int64_t count(const std::string& path) const;
  /// Values [first, first + count) of a list, for this rank. @note Collective.
  std::vector<double> piece(const std::string& path, std::int64_t first, std::int64_t count) const;
  /// As `restore_unreadable_from_copy`, on rank 0 for all; throws FileError on every rank. What it has replaced was
  /// torn by a kill in the middle of a flush, and what comes after the checkpoint is computed once more. Whether it
  /// did.
  /// @note Collective.
  bool restore_backup(const std::string& result) const;
  const ResultReader& reader() const { return *reader_; }

 private:
  std::string path_;
  Communicator communicator_;
  std::unique_ptr<ResultReader> reader_;
};

}  // namespace bathline
