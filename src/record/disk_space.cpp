// Reserving disk space with Linux' fallocate and statvfs.
// Tested by tests/record/full_disk_test.cpp.
#include "record/disk_space.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace bathline {

namespace {

int compare_with_free_space(int descriptor, std::int64_t to) {
  struct stat file {};
  struct statvfs system {};
  if (fstat(descriptor, &file) != 0 || fstatvfs(descriptor, &system) != 0) return errno;
  if (system.f_blocks == 0) return 0;  // unknown to the file system
  const auto growth = std::max<std::int64_t>(0, to - static_cast<std::int64_t>(file.st_size));
  const auto free = static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize;
  return static_cast<std::uint64_t>(growth) > free ? ENOSPC : 0;
}

}  // namespace

int preallocate(int descriptor, std::int64_t from, std::int64_t to) {
  if (to <= from) return 0;
  // Linux reserves space beyond the limit on the size of files, where the process cannot write.
  struct rlimit limit {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<rlim_t>(to) > limit.rlim_cur) {
    return EFBIG;
  }
  int result = 0;
  do {
    result = fallocate(descriptor, FALLOC_FL_KEEP_SIZE, from, to - from);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return 0;
  if (errno == EOPNOTSUPP || errno == ENOSYS) return compare_with_free_space(descriptor, to);
  return errno;
}

void release_preallocated(int descriptor) {
  struct stat file {};
  // Truncating a file at its end releases the blocks beyond it. A failure leaves the file intact.
  if (fstat(descriptor, &file) == 0 && ftruncate(descriptor, file.st_size) != 0) errno = 0;
}

bool is_disk_full(const std::string& path) {
  constexpr std::uint64_t practically_full = 64 * 1024;
  struct statvfs system {};
  return statvfs(path.c_str(), &system) == 0 && system.f_blocks > 0 &&
         static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize < practically_full;
}

std::string system_error_message(int number) { return std::generic_category().message(number); }

}  // namespace bathline
