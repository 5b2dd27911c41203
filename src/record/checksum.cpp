// Computing the checksum of a file, and writing and reading the checksum line.
// Tested by tests/record/checksum_test.cpp.
#include "record/checksum.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "record/disk_space.hpp"
#include "record/guarded_reader.hpp"
#include "record/on_all_ranks.hpp"
#include "record/result_file.hpp"

namespace bathline {

namespace {

std::string line_prefix(const std::string& kind) { return fmt::format("bathline {} of ", kind); }

std::string line_for(const std::string& kind, std::int64_t size, std::uint64_t sum) {
  return fmt::format("{}{:020d} bytes with checksum {:016x}\n", line_prefix(kind), size, sum);
}

/// A bijective mixing of the bits of a number: the finaliser of splitmix64.
std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::uint64_t hash_of(const char* bytes, std::size_t count) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ count;
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min<std::size_t>(8, count - i));
    hash = (std::rotl(hash, 27) ^ word) * 0xff51afd7ed558ccdu;
  }
  return mix_bits(hash);
}

/// A file open for reading.
class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) refuse(system_error_message(errno));
  }
  ~ReadOnlyFile() { ::close(descriptor_); }
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;

  void read(std::int64_t offset, std::int64_t count, char* bytes) const {
    for (std::int64_t done = 0; done < count;) {
      const ssize_t bytes_read =
          pread(descriptor_, bytes + done, static_cast<std::size_t>(count - done), offset + done);
      if (bytes_read < 0 && errno == EINTR) continue;
      if (bytes_read <= 0) refuse(bytes_read < 0 ? system_error_message(errno) : "it is truncated");
      done += bytes_read;
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const { throw FileError("cannot read {}: {}", path_, reason); }

  std::string path_;
  int descriptor_;
};

constexpr std::int64_t max_checksummed_bytes = std::int64_t{1} << 30;

/// Bytes that are read or copied at once.
constexpr std::int64_t block = std::int64_t{1} << 20;

/// One of `parts` summands of the checksum of the first `size` bytes: the sum of the hashes of every `parts`-th block,
/// each hashed with its index, so that the checksum does not depend on the number of ranks.
std::uint64_t partial_checksum(const std::string& path, std::int64_t size, int part, int parts) {
  const ReadOnlyFile file(path);
  std::vector<char> bytes(block);
  std::uint64_t sum = 0;
  for (std::int64_t i = part; i * block < size; i += parts) {
    const std::int64_t count = std::min(block, size - i * block);
    file.read(i * block, count, bytes.data());
    sum += mix_bits(hash_of(bytes.data(), static_cast<std::size_t>(count)) + static_cast<std::uint64_t>(i));
  }
  return sum;
}

std::uint64_t checksum(const std::string& path, std::int64_t size, const Communicator& communicator) {
  std::uint64_t sum = 0;
  on_all_ranks(communicator, [&] { sum = partial_checksum(path, size, communicator.rank(), communicator.size()); });
  return static_cast<std::uint64_t>(communicator.sum(static_cast<std::int64_t>(sum)));
}

/// The last line of a file if it is a checksum line of this kind, else "".
std::string last_line(const std::string& path, const std::string& kind) {
  std::string line = line_for(kind, 0, 0);
  const std::int64_t size = size_without_checksum(path, kind);
  if (size < 0) return "";
  ReadOnlyFile(path).read(size, static_cast<std::int64_t>(line.size()), line.data());
  return line.starts_with(line_prefix(kind)) ? line : "";
}

}  // namespace

std::int64_t size_of_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) throw FileError("cannot read {}: {}", path, system_error_message(errno));
  if (!S_ISREG(status.st_mode)) throw FileError("cannot read {}: it is not a regular file", path);
  return status.st_size;
}

std::int64_t size_without_checksum(const std::string& path, const std::string& kind) {
  return size_of_file(path) - static_cast<std::int64_t>(line_for(kind, 0, 0).size());
}

void append_bytes(const std::string& from, std::int64_t first, std::int64_t count, const std::string& to) {
  const ReadOnlyFile source(from);
  const int descriptor = ::open(to.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
  const auto refuse = [&](int error) {
    if (descriptor >= 0) ::close(descriptor);
    throw FileError("cannot write {}: {}", to, system_error_message(error));
  };
  if (descriptor < 0) refuse(errno);
  std::vector<char> bytes(static_cast<std::size_t>(std::min(block, count)));
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t piece = std::min(block, count - done);
    source.read(first + done, piece, bytes.data());
    const ssize_t written = write(descriptor, bytes.data(), static_cast<std::size_t>(piece));
    if (written < 0 && errno != EINTR) refuse(errno);
    done += std::max<ssize_t>(written, 0);
  }
  if (::close(descriptor) != 0) throw FileError("cannot write {}: {}", to, system_error_message(errno));
}

void append_checksum(const std::string& path, const std::string& kind, Durability durability,
                     const Communicator& communicator) {
  std::int64_t size[] = {0};
  on_root(communicator, [&] { size[0] = size_of_file(path); });
  communicator.broadcast(std::span<std::int64_t>(size));
  const std::uint64_t sum = checksum(path, size[0], communicator);
  on_root(communicator, [&] {
    const std::string line = line_for(kind, size[0], sum);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    bool is_written =
        descriptor >= 0 && write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    is_written = is_written && (durability == Durability::buffered || fsync(descriptor) == 0);
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!is_written) throw FileError("cannot write {}: {}", path, system_error_message(error));
  });
}

ChecksumState verify_checksum(const std::string& path, const std::string& kind, const Communicator& communicator) {
  std::string line;
  on_root(communicator, [&] { line = last_line(path, kind); });
  line = communicator.broadcast(line);
  if (line.empty()) return ChecksumState::missing;
  std::int64_t size[] = {0};
  on_root(communicator, [&] { size[0] = size_without_checksum(path, kind); });
  communicator.broadcast(std::span<std::int64_t>(size));
  return line == line_for(kind, size[0], checksum(path, size[0], communicator)) ? ChecksumState::valid
                                                                                : ChecksumState::invalid;
}

ChecksumState verify_checksum(const std::string& path, const std::string& kind) {
  const std::string line = last_line(path, kind);
  if (line.empty()) return ChecksumState::missing;
  const std::int64_t size = size_without_checksum(path, kind);
  return line == line_for(kind, size, partial_checksum(path, size, 0, 1)) ? ChecksumState::valid
                                                                          : ChecksumState::invalid;
}

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
  if (checksum_state == ChecksumState::invalid) throw FileError("{} is damaged: its checksum does not match", path);
  if (checksum_state == ChecksumState::valid) return true;
  GuardedReader().require_readable(path, "");
  return false;
}

std::string missing_checksum_text(const std::string& path) {
  return fmt::format(
      "{} does not end with its checksum, so that damage cannot be detected: it was written by an earlier version, is "
      "not complete, has more than {} GiB, or was changed by another program",
      path, max_checksummed_bytes >> 30);
}

}  // namespace bathline
