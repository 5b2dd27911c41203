// Seals, copies and digests of results.
//
// HDF5's own checksum of values (Fletcher32) is not used: it belongs to a chunk of up to 1024 records, which every
// flush would write anew in its place. A kill in the middle of that would leave a chunk that cannot be read, and hide
// records that were flushed before. Digests are written where nothing depends on them, and know every row by itself.
#include "record/result_integrity.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "record/on_all_ranks.hpp"
#include "record/backup_copy.hpp"
#include "record/checksum_trailer.hpp"
#include "record/run_in_child_process.hpp"

namespace bathline {

namespace {

constexpr std::int64_t largest_sealed = std::int64_t{1} << 30;
constexpr const char* digests_group = "records";

/// Numbers of 32 bits, which are exact as doubles.
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
    if (numbers.size() != 3) throw FileError(fmt::format("{} of {} is no digest", path, checkpoint.path()));
    digests[path.substr(std::string(digests_group).size() + 1)] = {
        count_of(numbers[0]),
        (static_cast<std::uint64_t>(count_of(numbers[1])) << 32) | static_cast<std::uint64_t>(count_of(numbers[2]))};
  }
}

}  // namespace

void append_result_checksum(const std::string& path, const Communicator& communicator) {
  const bool small = communicator.is_root() && size_of_file(path) <= largest_sealed;
  if (!communicator.broadcast(small)) return;
  try {
    append_checksum(path, "result", Writing::any_time, communicator);
  } catch (const FileError&) {
    // Nothing is lost but that damage could be told from what was computed.
  }
}

bool require_intact(const std::string& path) {
  const ChecksumState checksum_state = verify_checksum(path, "result");
  if (checksum_state == ChecksumState::invalid)
    throw FileError(fmt::format("{} is damaged: its checksum is another one", path));
  if (checksum_state == ChecksumState::valid) return true;
  const std::string why = why_unreadable(path);
  if (!why.empty()) throw FileError(why);
  return false;
}

std::string why_unreadable(const std::string& path) {
  const std::string why = run_in_child_process([&](const auto& at) {
    const ResultReader reader(path);  // says what is no HDF5 in words of its own
    read_everything(path, at);
  });
  return why.empty() || why.find(path) != std::string::npos ? why : fmt::format("{} cannot be read, {}", path, why);
}

std::string missing_checksum_text(const std::string& path) {
  return fmt::format(
      "{} does not end with its checksum, so that damage in it could not be told from what was computed: it is of an "
      "earlier version of the program, is not complete, has more than {} GiB, or was changed by another program",
      path, largest_sealed >> 30);
}

void write_digests(ResultFile& checkpoint, const std::string& result, RecordDigests& known,
                   const Communicator& communicator) {
  const bool copied = communicator.is_root() && size_of_file(result) <= CheckpointWriter::largest_copy;
  if (communicator.broadcast(copied)) return;
  RecordDigests mine;
  on_all_ranks(communicator, [&] { mine = record_digests(result, known, communicator.rank(), communicator.size()); });
  for (auto& [path, digest] : mine) {
    const auto sum = static_cast<std::uint64_t>(communicator.sum(static_cast<std::int64_t>(digest.sum)));
    known[path] = {digest.rows, known[path].sum + sum};
    checkpoint.numbers(fmt::format("{}/{}", digests_group, path), numbers_of(known[path]));
  }
}

RecordDigests read_digests(const ResultReader& checkpoint) {
  RecordDigests digests;
  if (checkpoint.is_group(digests_group)) {
    try {
      collect(checkpoint, digests_group, digests);
    } catch (const std::out_of_range&) {
      throw FileError(fmt::format("{} holds digests that are none", checkpoint.path()));
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
      throw FileError(fmt::format("{} is damaged: its checksum is another one", result));
    const RecordDigests digests = read_digests(checkpoint.reader());
    if (digests.empty()) {
      unverified = fmt::format("{} holds no checksums of the records before it: damage in {} would go unnoticed",
                               checkpoint.path(), result);
      return;
    }
    const std::string why = run_in_child_process([&](const auto& at) { compare_records(result, digests, at); });
    if (!why.empty()) throw FileError(why);
  });
  unverified = communicator.broadcast(unverified);
}

}  // namespace bathline
