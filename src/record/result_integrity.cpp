// Checksums of results, and reading those without.
//
// HDF5's own checksum of values (Fletcher32) is not used: it covers a chunk of up to 1024 records, which every flush
// would rewrite in place. A kill during the write would leave an unreadable chunk and lose records that were flushed
// before.
#include "record/result_integrity.hpp"

#include <fmt/format.h>

#include "record/file_scan.hpp"
#include "record/result_file.hpp"
#include "record/run_in_child_process.hpp"

namespace bathline {

namespace {

constexpr std::int64_t max_checksummed_bytes = std::int64_t{1} << 30;

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
  require_readable(path, [&](const auto& report) {
    const ResultReader reader(path);  // has better messages for files that are not HDF5
    read_everything(path, report);
  });
  return false;
}

std::string missing_checksum_text(const std::string& path) {
  return fmt::format(
      "{} does not end with its checksum, so that damage cannot be detected: it was written by an earlier version, is "
      "not complete, has more than {} GiB, or was changed by another program",
      path, max_checksummed_bytes >> 30);
}

}  // namespace bathline
