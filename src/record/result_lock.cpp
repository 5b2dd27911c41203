// Open file description locks: unlike process locks they are not released when another descriptor of the file is
// closed, and unlike flock() they work across nodes on parallel file systems.
#include "record/result_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "record/disk_space.hpp"
#include "record/provenance.hpp"
#include "recipe/mistakes.hpp"

namespace bathline {

namespace {

namespace fs = std::filesystem;

constexpr const char* lock_prefix = "bathline writes: ";
constexpr std::size_t max_text_bytes = 400;

/// The path of the lock file, which is the same for every path of a result.
std::string lock_path(const std::string& result) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(result, error);
  return (error ? result : path.string()) + ".lock";
}

/// The beginning of a file, with control characters replaced by spaces.
std::string text_in(int descriptor) {
  std::string text(max_text_bytes, '\0');
  const ssize_t count = pread(descriptor, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  for (char& c : text) {
    if (c < ' ' || c > '~') c = ' ';
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string process_description() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {} since {}", getpid(), host.data(), utc_now());
}

/// Whether a descriptor still refers to the file at `path`; the previous holder may have removed that.
bool refers_to(int descriptor, const std::string& path) {
  struct stat opened {
  }, current{};
  return fstat(descriptor, &opened) == 0 && opened.st_nlink > 0 && stat(path.c_str(), &current) == 0 &&
         opened.st_ino == current.st_ino && opened.st_dev == current.st_dev;
}

[[noreturn]] void refuse_for(const std::string& result, const std::string& text) {
  const std::string prefix = lock_prefix;
  throw UsageError(fmt::format("{} is being written by {}; only one run at a time can write a result", result,
                               text.starts_with(prefix) ? text.substr(prefix.size()) : "another run"));
}

[[noreturn]] void refuse_foreign(const std::string& file, const std::string& result) {
  throw UsageError(
      fmt::format("{} is not a lock file of bathline, but has the name of the lock of {}; move it away", file, result));
}

void warn_once(const std::string& result, const std::string& reason) {
  static bool has_warned = false;
  if (!has_warned) {
    spdlog::warn("{} cannot be locked ({}): a second run that writes it at the same time would not be detected", result,
                 reason);
  }
  has_warned = true;
}

}  // namespace

ResultLock::ResultLock(const std::string& path, const Communicator& communicator) {
  std::string refusal;
  if (communicator.is_root()) {
    try {
      acquire(path);
    } catch (const UsageError& error) {
      refusal = error.what();
    }
  }
  refusal = communicator.broadcast(refusal);
  if (!refusal.empty()) throw UsageError(refusal);
}

ResultLock::~ResultLock() {
  if (descriptor_ < 0) return;
  ::unlink(file_.c_str());  // before unlocking: a process waiting with the file open finds that it was removed
  ::close(descriptor_);
}

void ResultLock::acquire(const std::string& path) {
  file_ = lock_path(path);
  while (true) {
    const int descriptor = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0) {
      const int error = errno;
      if (error == ELOOP || error == EISDIR) refuse_foreign(file_, path);
      // If the folder is not writable, creating the result reports it.
      std::error_code ignored;
      if (error != EROFS && fs::exists(path, ignored)) warn_once(path, system_error_message(error));
      return;
    }
    struct stat status {};
    const bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    const std::string before = text_in(descriptor);
    if (!is_file || !(before.empty() || before.starts_with(lock_prefix))) {
      ::close(descriptor);
      refuse_foreign(file_, path);
    }
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (fcntl(descriptor, F_OFD_SETLK, &whole) != 0) {
      const int error = errno;
      const bool is_held = error == EAGAIN || error == EACCES;
      if (is_held) {
        // The holder writes its description right after locking.
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const std::string holder = text_in(descriptor);
        ::close(descriptor);
        refuse_for(path, holder);
      }
      ::close(descriptor);
      ::unlink(file_.c_str());
      warn_once(path, system_error_message(error));
      return;
    }
    if (!refers_to(descriptor, file_)) {
      ::close(descriptor);
      continue;
    }
    descriptor_ = descriptor;
    break;
  }
  const std::string line = fmt::format("{}{}\n", lock_prefix, process_description());
  // A failure, as on a full disk, only leaves the description empty.
  const bool is_written =
      ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, line.data(), line.size(), 0) > 0 && fsync(descriptor_) == 0;
  static_cast<void>(is_written);
}

}  // namespace bathline
