// The checksum of a file and the line that holds it.
// Tested by tests/record/result_integrity_test.cpp.
#include "record/checksum_trailer.hpp"

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
#include "record/on_all_ranks.hpp"
#include "record/result_file.hpp"

namespace bathline {

namespace {

std::string beginning_of_line(const std::string& kind) { return fmt::format("bathline {} of ", kind); }

std::string line_for(const std::string& kind, std::int64_t size, std::uint64_t sum) {
  return fmt::format("{}{:020d} bytes with checksum {:016x}\n", beginning_of_line(kind), size, sum);
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

/// A file open for reading, closed when this goes.
class Opened {
 public:
  explicit Opened(const std::string& path) : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) refuse(system_error_message(errno));
  }
  ~Opened() { ::close(descriptor_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  void read(std::int64_t place, std::int64_t count, char* bytes) const {
    for (std::int64_t done = 0; done < count;) {
      const ssize_t got = pread(descriptor_, bytes + done, static_cast<std::size_t>(count - done), place + done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) refuse(got < 0 ? system_error_message(errno) : "it is cut short");
      done += got;
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw FileError(fmt::format("cannot read {}: {}", path_, why));
  }

  std::string path_;
  int descriptor_;
};

/// One of `shares` parts of the checksum of the first `size` bytes, which is their sum: hashes of blocks that know
/// their block, so that any number of ranks gets the same.
std::uint64_t share_of_checksum(const std::string& path, std::int64_t size, int share, int shares) {
  constexpr std::int64_t block = std::int64_t{1} << 20;
  const Opened file(path);
  std::vector<char> bytes(block);
  std::uint64_t sum = 0;
  for (std::int64_t i = share; i * block < size; i += shares) {
    const std::int64_t count = std::min(block, size - i * block);
    file.read(i * block, count, bytes.data());
    sum += mix_bits(hash_of(bytes.data(), static_cast<std::size_t>(count)) + static_cast<std::uint64_t>(i));
  }
  return sum;
}

std::uint64_t checksum(const std::string& path, std::int64_t size, const Communicator& communicator) {
  std::uint64_t sum = 0;
  on_all_ranks(communicator, [&] { sum = share_of_checksum(path, size, communicator.rank(), communicator.size()); });
  return static_cast<std::uint64_t>(communicator.sum(static_cast<std::int64_t>(sum)));
}

/// The last line of a file where it is a seal of this kind, else "".
std::string last_line(const std::string& path, const std::string& kind) {
  std::string line = line_for(kind, 0, 0);
  const auto length = static_cast<std::int64_t>(line.size());
  const std::int64_t size = size_of_file(path) - length;
  if (size < 0) return "";
  Opened(path).read(size, length, line.data());
  return line.starts_with(beginning_of_line(kind)) ? line : "";
}

}  // namespace

std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::int64_t size_of_file(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0)
    throw FileError(fmt::format("cannot read {}: {}", path, system_error_message(errno)));
  if (!S_ISREG(found.st_mode)) throw FileError(fmt::format("cannot read {}: it is not a regular file", path));
  return found.st_size;
}

void append_checksum(const std::string& path, const std::string& kind, Writing writing,
                     const Communicator& communicator) {
  std::int64_t size[] = {0};
  on_all_ranks(communicator, [&] {
    if (communicator.is_root()) size[0] = size_of_file(path);
  });
  communicator.broadcast(std::span<std::int64_t>(size));
  const std::uint64_t sum = checksum(path, size[0], communicator);
  on_all_ranks(communicator, [&] {
    if (!communicator.is_root()) return;
    const std::string line = line_for(kind, size[0], sum);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    bool good = descriptor >= 0 && write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    good = good && (writing == Writing::any_time || fsync(descriptor) == 0);
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!good) throw FileError(fmt::format("cannot write {}: {}", path, system_error_message(error)));
  });
}

ChecksumState verify_checksum(const std::string& path, const std::string& kind, const Communicator& communicator) {
  std::string line;
  on_all_ranks(communicator, [&] {
    if (communicator.is_root()) line = last_line(path, kind);
  });
  line = communicator.broadcast(line);
  if (line.empty()) return ChecksumState::missing;
  std::int64_t size[] = {0};
  on_all_ranks(communicator, [&] {
    if (communicator.is_root()) size[0] = size_of_file(path) - static_cast<std::int64_t>(line.size());
  });
  communicator.broadcast(std::span<std::int64_t>(size));
  return line == line_for(kind, size[0], checksum(path, size[0], communicator)) ? ChecksumState::valid
                                                                                : ChecksumState::invalid;
}

ChecksumState verify_checksum(const std::string& path, const std::string& kind) {
  const std::string line = last_line(path, kind);
  if (line.empty()) return ChecksumState::missing;
  const std::int64_t size = size_of_file(path) - static_cast<std::int64_t>(line.size());
  return line == line_for(kind, size, share_of_checksum(path, size, 0, 1)) ? ChecksumState::valid
                                                                           : ChecksumState::invalid;
}

}  // namespace bathline
