// Removing on the way out, whichever that is.
// Tested by tests/command_line/strangers_test.py.
#include "record/temporary_file.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <random>

namespace bathline {

namespace {

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGXCPU};

// What the handler may touch: it is set before the handlers are, and cleared after they are gone.
const char* doomed = nullptr;
struct sigaction previous[std::size(ending_signals)];

void remove_and_end(int signal) {
  unlink(doomed);
  // Blocked until this handler returns, and then the end.
  ::signal(signal, SIG_DFL);
  raise(signal);
}

std::string any_name(const std::string& beside) {
  std::random_device random;
  const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
  return fmt::format("{}.rerun-{:016x}.h5", beside, number);
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& beside, const Communicator& communicator)
    : path_(communicator.broadcast(communicator.is_root() ? any_name(beside) : "")), is_root_(communicator.is_root()) {
  if (!is_root_) return;
  doomed = path_.c_str();
  struct sigaction action {};
  action.sa_handler = remove_and_end;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(ending_signals); ++i) {
    sigaction(ending_signals[i], &action, &previous[i]);
    // As under nohup: what was ignored still is.
    if (previous[i].sa_handler == SIG_IGN) sigaction(ending_signals[i], &previous[i], nullptr);
  }
}

TemporaryFile::~TemporaryFile() {
  if (!is_root_) return;
  unlink(path_.c_str());
  for (std::size_t i = 0; i < std::size(ending_signals); ++i) sigaction(ending_signals[i], &previous[i], nullptr);
}

}  // namespace bathline
