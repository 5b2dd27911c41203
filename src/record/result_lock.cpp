// Locks of open file descriptions: unlike those of processes they outlive other descriptors of the same file, and
// unlike flock() they are seen from other nodes on parallel file systems as well.
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

constexpr const char* first_words = "bathline writes: ";
constexpr std::size_t longest_text = 400;

/// The file behind `result`, under one name however it was reached.
std::string place_of(const std::string& result) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(result, error);
  return (error ? result : place.string()) + ".lock";
}

/// Its first words, without anything that a terminal could take for more than text.
std::string text_in(int descriptor) {
  std::string text(longest_text, '\0');
  const ssize_t count = pread(descriptor, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  for (char& c : text) {
    if (c < ' ' || c > '~') c = ' ';
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string who_we_are() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {} since {}", getpid(), host.data(), utc_now());
}

/// Whether a descriptor is of the file that stands at `place` now: its holder removes it when it is done.
bool is_at(int descriptor, const std::string& place) {
  struct stat mine {
  }, there{};
  return fstat(descriptor, &mine) == 0 && mine.st_nlink > 0 && stat(place.c_str(), &there) == 0 &&
         mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

[[noreturn]] void refuse_for(const std::string& result, const std::string& text) {
  const std::string prefix = first_words;
  throw UsageError(fmt::format("{} is being written by {}; only one run at a time can write a result", result,
                               text.starts_with(prefix) ? text.substr(prefix.size()) : "another run"));
}

[[noreturn]] void refuse_foreign(const std::string& file, const std::string& result) {
  throw UsageError(
      fmt::format("{} is no lock of bathline, and stands where the lock of {} should be; move it away", file, result));
}

void warn_once(const std::string& result, const std::string& reason) {
  static bool said = false;
  if (!said) {
    spdlog::warn("{} cannot be locked ({}): nothing keeps a second run from writing it at the same time", result,
                 reason);
  }
  said = true;
}

}  // namespace

ResultLock::ResultLock(const std::string& path, const Communicator& communicator) {
  std::string refusal;
  if (communicator.is_root()) {
    try {
      take(path);
    } catch (const UsageError& error) {
      refusal = error.what();
    }
  }
  refusal = communicator.broadcast(refusal);
  if (!refusal.empty()) throw UsageError(refusal);
}

ResultLock::~ResultLock() {
  if (descriptor_ < 0) return;
  ::unlink(file_.c_str());  // while it is held: whoever has it open already finds that it is no longer there
  ::close(descriptor_);
}

void ResultLock::take(const std::string& path) {
  file_ = place_of(path);
  while (true) {
    const int descriptor = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0) {
      const int error = errno;
      if (error == ELOOP || error == EISDIR) refuse_foreign(file_, path);
      // Where nothing can be written, or there is no result either, whoever is about to write it says so.
      std::error_code ignored;
      if (error != EROFS && fs::exists(path, ignored)) warn_once(path, system_error_message(error));
      return;
    }
    struct stat found {};
    const bool is_file = fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
    const std::string before = text_in(descriptor);
    if (!is_file || !(before.empty() || before.starts_with(first_words))) {
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
        // Whoever has it writes its name at once.
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
    if (!is_at(descriptor, file_)) {
      ::close(descriptor);
      continue;
    }
    descriptor_ = descriptor;
    break;
  }
  const std::string line = fmt::format("{}{}\n", first_words, who_we_are());
  // A full disk keeps the name from the next one, and nothing else.
  const bool told =
      ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, line.data(), line.size(), 0) > 0 && fsync(descriptor_) == 0;
  static_cast<void>(told);
}

}  // namespace bathline
