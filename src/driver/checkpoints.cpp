// Signals, clocks and the agreement of the ranks on them.
// Tested by tests/command_line/resume_test.py.
#include "driver/checkpoints.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "solve/petsc_session.hpp"

namespace bathline {

namespace {

// What a signal handler may touch.
volatile std::sig_atomic_t signal_received = 0;
volatile std::sig_atomic_t stops = 0;
volatile std::sig_atomic_t speaks = 0;

volatile std::sig_atomic_t interrupted_at = 0;  // ms, counted from anywhere; 0: not yet

constexpr int stopping[] = {SIGUSR1, SIGTERM, SIGINT};
struct sigaction previous[std::size(stopping)];

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Whether this is a second Ctrl-C. Some launchers send one to the process and to its group as well: what comes within
/// a quarter of a second of the first is still that one.
bool is_second_interrupt() {
  struct timespec now {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto milliseconds = static_cast<std::sig_atomic_t>((now.tv_sec % 1000000) * 1000 + now.tv_nsec / 1000000);
  if (interrupted_at == 0) {
    interrupted_at = milliseconds;
    return false;
  }
  return milliseconds < interrupted_at || milliseconds - interrupted_at > 250;
}

void handle(int signal) {
  if (signal == SIGINT && is_second_interrupt()) return end_by(signal);
  if (!stops && signal != SIGUSR1) return end_by(signal);
  signal_received = signal;
  if (stops || !speaks) return;
  constexpr const char* words =
      "warning: this part of the run cannot be stopped with a checkpoint; it goes on until one can\n";
  const int error = errno;
  if (write(STDERR_FILENO, words, std::strlen(words)) < 0) errno = error;
  errno = error;
}

// Votes on what to do; the highest wins.
enum Vote { nothing = 0, saving = 1, time_is_up = 2, interrupted = 3, terminated = 4, user_signal = 5 };

/// Seconds kept free before the limit, besides what a block of steps and a checkpoint take.
double margin_of(double limit) { return std::min(30.0, 0.05 * limit); }

}  // namespace

StopSignals::StopSignals(const Communicator& communicator) {
  signal_received = 0;
  interrupted_at = 0;
  stops = 1;
  speaks = communicator.is_root() ? 1 : 0;
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(stopping); ++i) {
    sigaction(stopping[i], &action, &previous[i]);
    // A shell starts what it runs in the background without Ctrl-C.
    if (stopping[i] == SIGINT && previous[i].sa_handler == SIG_IGN) sigaction(SIGINT, &previous[i], nullptr);
  }
  communicator.barrier();
}

StopSignals::~StopSignals() {
  stops = 1;
  for (std::size_t i = 0; i < std::size(stopping); ++i) {
    // A run that has ended is not to look as if SIGUSR1 had killed it, as it would while MPI takes its leave: a job
    // script would compute it once more.
    if (stopping[i] == SIGUSR1) continue;
    // The second half of a Ctrl-C may come while the program is already ending on the first.
    if (stopping[i] != SIGINT || interrupted_at == 0) sigaction(stopping[i], &previous[i], nullptr);
  }
}

void StopSignals::begin(Part part) { stops = part == Part::stoppable ? 1 : 0; }

int StopSignals::received() { return signal_received; }

Checkpoints::Checkpoints(CheckpointPlan plan, const Communicator& communicator, std::unique_ptr<CheckpointReader> from)
    : plan_(std::move(plan)),
      communicator_(std::make_unique<Communicator>(communicator)),
      from_(std::move(from)),
      saved_at_(elapsed()) {}

Checkpoints::Decision Checkpoints::decide(double block) {
  if (!communicator_) return Decision::proceed;
  longest_block_ = std::max(longest_block_, block);
  int mine = nothing;
  const double now = elapsed();
  if (plan_.interval > 0.0 && now - saved_at_ >= plan_.interval) mine = saving;
  // A first block is always done, so that a run whose limit is too short gets on all the same.
  const double needed = margin_of(plan_.wall_time) + 1.5 * longest_block_ + 2.0 * longest_save_;
  if (plan_.wall_time > 0.0 && block > 0.0 && now + needed >= plan_.wall_time) mine = time_is_up;
  if (StopSignals::received() == SIGINT) mine = interrupted;
  if (StopSignals::received() == SIGTERM) mine = terminated;
  if (StopSignals::received() == SIGUSR1) mine = user_signal;
  reason_ = static_cast<int>(communicator_->max(mine));
  return reason_ == nothing ? Decision::proceed : reason_ == saving ? Decision::save : Decision::stop;
}

std::string Checkpoints::why() const {
  switch (reason_) {
    case user_signal:
      return "SIGUSR1";
    case terminated:
      return "SIGTERM";
    case interrupted:
      return "SIGINT";
    default:
      return "the wall-time limit";
  }
}

std::string Checkpoints::save(std::int64_t total, bool stops, const std::function<void(CheckpointWriter&)>& save) {
  const LogStage stage("Checkpoint");
  const double begin = elapsed();
  const std::string path = checkpoint_name(plan_.result, total);
  try {
    CheckpointWriter writer(path, *communicator_);
    plan_.describe(writer.file());
    const double steps = static_cast<double>(total);
    writer.numbers("total_steps", {&steps, 1});
    save(writer);
    writer.keep_copy(plan_.result);
    writer.commit();
  } catch (const FileError& error) {
    // Thrown on every rank alike.
    if (stops) throw;
    spdlog::warn("no checkpoint could be written, and the run goes on: {}", error.what());
    saved_at_ = elapsed();
    return "";
  }
  if (communicator_->is_root()) prune_checkpoints(plan_.result, total, plan_.keep);
  saved_at_ = elapsed();
  longest_save_ = std::max(longest_save_, saved_at_ - begin);
  return path;
}

void fit_to_recipe(const CheckpointReader* from, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::out_of_range& what) {
    if (from == nullptr) throw;
    throw FileError(fmt::format("{} does not fit its own recipe: {}", from->path(), what.what()));
  }
}

}  // namespace bathline
