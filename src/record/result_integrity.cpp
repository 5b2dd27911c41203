// Checksums, copies and digests of results.
//
// HDF5's own checksum of values (Fletcher32) is not used: it covers a chunk of up to 1024 records, which every flush
// would rewrite in place. A kill during the write would leave an unreadable chunk and lose records that were flushed
// before. Digests are stored separately, in checkpoints, and are additive over rows.
#include "record/result_integrity.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "record/on_all_ranks.hpp"
#include "record/backup_copy.hpp"
#include "record/checksum_trailer.hpp"
#include "record/run_in_child_process.hpp"

namespace bathline {

namespace {

constexpr std::int64_t max_checksummed_bytes = std::int64_t{1} << 30;
constexpr const char* digests_group = "records";

/// Splits the sum into numbers of 32 bits, which are exact as doubles.
std::vector<double> numbers_of(const RecordDigest& digest) {
  return {static_cast<double>(digest.rows), static_cast<double>(digest.sum >> 32),
          static_cast<double>(digest.sum & 0xffffffffu)};
}

void collect(const ResultReader& checkpoint, const std::string& group, RecordDigests& digests) {
  for (const std::string& name : checkpoint.names(group)) {
    const std::string path = group + "/" + name;
    if (checkpoint.is_group(path)) {
      collect(checkpoint, path, digests);
      continue;
    }
    const std::vector<double> numbers = checkpoint.read(path).values;
    if (numbers.size() != 3) throw FileError(fmt::format("{} of {} is not a digest", path, checkpoint.path()));
    digests[path.substr(std::string(digests_group).size() + 1)] = {
        count_of(numbers[0]),
        (static_cast<std::uint64_t>(count_of(numbers[1])) << 32) | static_cast<std::uint64_t>(count_of(numbers[2]))};
  }
}

}  // namespace

void append_result_checksum(const std::string& path, const Communicator& communicator) {
  const bool small = communicator.is_root() && size_of_file(path) <= max_checksummed_bytes;
  if (!communicator.broadcast(small)) return;
  try {
    append_checksum(path, "result", Durability::buffered, communicator);
  } catch (const FileError&) {
    // The result is complete without it; only later damage cannot be detected.
  }
}

bool require_intact(const std::string& path) {
  const ChecksumState checksum_state = verify_checksum(path, "result");
  if (checksum_state == ChecksumState::invalid)
    throw FileError(fmt::format("{} is damaged: its checksum does not match", path));
  if (checksum_state == ChecksumState::valid) return true;
  const std::string reason = why_unreadable(path);
  if (!reason.empty()) throw FileError(reason);
  return false;
}

std::string why_unreadable(const std::string& path) {
  const std::string reason = run_in_child_process([&](const auto& report) {
    const ResultReader reader(path);  // has better messages for files that are not HDF5
    read_everything(path, report);
  });
  return reason.empty() || reason.find(path) != std::string::npos ? reason
                                                                  : fmt::format("cannot read {}: {}", path, reason);
}

std::string missing_checksum_text(const std::string& path) {
  return fmt::format(
      "{} does not end with its checksum, so that damage cannot be detected: it was written by an earlier version, is "
      "not complete, has more than {} GiB, or was changed by another program",
      path, max_checksummed_bytes >> 30);
}

void write_digests(ResultFile& checkpoint, const std::string& result, RecordDigests& digests,
                   const Communicator& communicator) {
  const bool has_copy = communicator.is_root() && size_of_file(result) <= CheckpointWriter::max_copy_bytes;
  if (communicator.broadcast(has_copy)) return;
  RecordDigests local;
  on_all_ranks(communicator,
               [&] { local = record_digests(result, digests, communicator.rank(), communicator.size()); });
  for (auto& [path, digest] : local) {
    const auto sum = static_cast<std::uint64_t>(communicator.sum(static_cast<std::int64_t>(digest.sum)));
    digests[path] = {digest.rows, digests[path].sum + sum};
    checkpoint.numbers(fmt::format("{}/{}", digests_group, path), numbers_of(digests[path]));
  }
}

RecordDigests read_digests(const ResultReader& checkpoint) {
  RecordDigests digests;
  if (checkpoint.is_group(digests_group)) {
    try {
      collect(checkpoint, digests_group, digests);
    } catch (const std::out_of_range&) {
      throw FileError(fmt::format("the digests in {} are invalid", checkpoint.path()));
    }
  }
  return digests;
}

void restore_result(const std::string& result, ChecksumState checksum_state, const CheckpointReader& checkpoint,
                    std::string& unverified, const Communicator& communicator) {
  unverified.clear();
  if (checksum_state == ChecksumState::valid) return;
  on_all_ranks(communicator, [&] {
    if (!communicator.is_root()) return;
    if (roll_back_to_copy(result, checkpoint.reader())) return;
    if (checksum_state == ChecksumState::invalid)
      throw FileError(fmt::format("{} is damaged: its checksum does not match", result));
    const RecordDigests digests = read_digests(checkpoint.reader());
    if (digests.empty()) {
      unverified = fmt::format("{} has no digests of the records before it: damage in {} cannot be detected",
                               checkpoint.path(), result);
      return;
    }
    const std::string reason =
        run_in_child_process([&](const auto& report) { compare_records(result, digests, report); });
    if (!reason.empty()) throw FileError(reason);
  });
  unverified = communicator.broadcast(unverified);
}

}  // namespace bathline
