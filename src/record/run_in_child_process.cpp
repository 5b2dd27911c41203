// A child process with a page of memory that its parent reads when it has ended.
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

namespace bathline {

namespace {

constexpr unsigned timeout = 60;  // seconds

struct Page {
  char at[1024];
  char why[3072];
};

void keep(char* place, std::size_t room, const std::string& text) {
  const std::size_t size = std::min(room - 1, text.size());
  std::memcpy(place, text.data(), size);
  place[size] = '\0';
}

/// Signals have no handlers of MPI and PETSc here, which would print, and leave no core.
void become_silent() {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTERM}) std::signal(number, SIG_DFL);
  const struct rlimit none { 0, 0 };
  setrlimit(RLIMIT_CORE, &none);
}

}  // namespace

std::string run_in_child_process(const std::function<void(const std::function<void(const std::string&)>& at)>& work) {
  void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return "no memory to try it in";
  Page& page = *static_cast<Page*>(memory);
  const pid_t child = fork();
  if (child == 0) {
    become_silent();
    try {
      work([&](const std::string& what) {
        keep(page.at, sizeof page.at, what);
        alarm(timeout);
      });
      _exit(0);
    } catch (const std::exception& error) {
      keep(page.why, sizeof page.why, error.what());
      _exit(1);
    }
  }
  int status = 0;
  std::string why;
  if (child < 0) {
    why = "no process to try it in";
  } else {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
      why = WTERMSIG(status) == SIGALRM ? fmt::format("{}: no end within {} s", page.at, timeout)
                                        : fmt::format("{}: {}", page.at, strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
      why = page.why[0] == '\0' ? "unknown failure" : page.why;
    }
  }
  munmap(memory, sizeof(Page));
  return why;
}

}  // namespace bathline
