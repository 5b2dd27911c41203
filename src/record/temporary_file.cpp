// Removing a temporary file at the end of the program, also on signals.
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

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU};

// Used by the signal handler; set before the handlers are installed.
const char* file_to_remove = nullptr;
struct sigaction previous_actions[std::size(ending_signals)];

void remove_and_end(int signal) {
  unlink(file_to_remove);
  // The raised signal is blocked until this handler returns; then it ends the process.
  ::signal(signal, SIG_DFL);
  raise(signal);
}

std::string random_name(const std::string& beside) {
  std::random_device random;
  const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
  return fmt::format("{}.rerun-{:016x}.h5", beside, number);
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& beside, const Communicator& communicator)
    : path_(communicator.broadcast(communicator.is_root() ? random_name(beside) : "")),
      is_root_(communicator.is_root()) {
  if (!is_root_) return;
  file_to_remove = path_.c_str();
  struct sigaction action {};
  action.sa_handler = remove_and_end;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(ending_signals); ++i) {
    sigaction(ending_signals[i], &action, &previous_actions[i]);
    // Signals that were ignored, as under nohup, stay ignored.
    if (previous_actions[i].sa_handler == SIG_IGN) sigaction(ending_signals[i], &previous_actions[i], nullptr);
  }
}

TemporaryFile::~TemporaryFile() {
  if (!is_root_) return;
  unlink(path_.c_str());
  for (std::size_t i = 0; i < std::size(ending_signals); ++i)
    sigaction(ending_signals[i], &previous_actions[i], nullptr);
}

}  // namespace bathline
