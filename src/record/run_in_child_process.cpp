// Running work in a child process that shares a page of memory with its parent.
// Tested by tests/command_line/damage_test.py.
#include "record/run_in_child_process.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "record/result_file.hpp"

namespace bathline {

namespace {

constexpr unsigned timeout = 60;  // seconds

struct Page {
  char activity[1024];
  char reason[3072];
};

void copy_text(char* target, std::size_t capacity, const std::string& text) {
  const std::size_t size = std::min(capacity - 1, text.size());
  std::memcpy(target, text.data(), size);
  target[size] = '\0';
}

/// Removes the signal handlers of MPI and PETSc, which would print messages, and disables core dumps.
void suppress_crash_output() {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTERM}) std::signal(number, SIG_DFL);
  const struct rlimit none { 0, 0 };
  setrlimit(RLIMIT_CORE, &none);
}

}  // namespace

std::string run_in_child_process(
    const std::function<void(const std::function<void(const std::string&)>& report)>& work) {
  void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return "cannot map memory for a child process";
  Page& page = *static_cast<Page*>(memory);
  const pid_t child = fork();
  if (child == 0) {
    suppress_crash_output();
    const auto report = [&](const std::string& activity) {
      copy_text(page.activity, sizeof page.activity, activity);
      alarm(timeout);
    };
    report("opening the file");
    try {
      work(report);
      _exit(0);
    } catch (const std::exception& error) {
      copy_text(page.reason, sizeof page.reason, error.what());
      _exit(1);
    }
  }
  int status = 0;
  std::string reason;
  if (child < 0) {
    reason = "cannot start a child process";
  } else {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
      reason = WTERMSIG(status) == SIGALRM ? fmt::format("{}: not finished within {} s", page.activity, timeout)
                                           : fmt::format("{}: {}", page.activity, strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
      reason = page.reason[0] == '\0' ? "unknown failure" : page.reason;
    }
  }
  munmap(memory, sizeof(Page));
  return reason;
}

void require_readable(const std::string& path,
                      const std::function<void(const std::function<void(const std::string&)>& report)>& work) {
  const std::string reason = run_in_child_process(work);
  if (reason.empty()) return;
  throw FileError(reason.find(path) != std::string::npos ? reason : fmt::format("cannot read {}: {}", path, reason));
}

}  // namespace bathline
