// Checkpoints: signals, clocks and the common decision of all ranks.
// Tested by tests/command_line/resume_test.py.
#include "driver/checkpoints.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

#include "driver/stop_signals.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

namespace {

// The only state that the signal handler changes.
volatile std::sig_atomic_t signal_received = 0;
volatile std::sig_atomic_t is_stoppable = 0;
volatile std::sig_atomic_t writes_message = 0;

volatile std::sig_atomic_t is_interrupted = 0;  // by a SIGINT that was not reported yet

// In ms since an arbitrary time; -1: none yet.
volatile std::sig_atomic_t interrupt_time = -1;  // of the first SIGINT of those that were not reported
volatile std::sig_atomic_t report_time = -1;
volatile std::sig_atomic_t reported_signal = 0;

int objects = 0;

struct StopSignal {
  int number;
  const char* name;
};
/// In the order of their votes. Schedulers send the last four before a limit, closed terminals SIGHUP.
constexpr StopSignal stop_signals[] = {{SIGINT, "SIGINT"},   {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"},
                                       {SIGXCPU, "SIGXCPU"}, {SIGUSR2, "SIGUSR2"}, {SIGUSR1, "SIGUSR1"}};
struct sigaction previous_actions[std::size(stop_signals)];

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::sig_atomic_t milliseconds_now() {
  struct timespec now {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::sig_atomic_t>((now.tv_sec % 1000000) * 1000 + now.tv_nsec / 1000000);
}

/// Some launchers send one signal both to the process and to its group, and ranks receive it at different times: within
/// a quarter of a second it counts as the same.
bool is_same_signal(std::sig_atomic_t before, std::sig_atomic_t now) {
  return before >= 0 && now >= before && now - before <= 250;
}

void handle(int signal) {
  const std::sig_atomic_t now = milliseconds_now();
  if (signal == reported_signal && is_same_signal(report_time, now)) return;
  if (signal == SIGINT) {
    if (is_interrupted && !is_same_signal(interrupt_time, now)) return end_by(signal);
    if (!is_interrupted) interrupt_time = now;
    is_interrupted = 1;
  }
  signal_received = signal;
  if (is_stoppable || !writes_message) return;
  constexpr const char* message =
      "warning: this part of the run cannot write a checkpoint; the run will stop as soon as one can be written\n";
  const int error = errno;
  if (write(STDERR_FILENO, message, std::strlen(message)) < 0) errno = error;
  errno = error;
}

/// The votes of the ranks; the highest one decides. Stop signals follow in their order.
enum Vote { proceed = 0, save_interval = 1, wall_time_limit = 2, first_signal = 3 };

/// Raises the signal of BATHLINE_SIGNAL_AT_STEP on its rank if its step lies after `before` and not after `now`.
void raise_signal_of_test(std::int64_t before, std::int64_t now, int rank) {
  int number = 0, its_rank = 0;
  long step = 0;
  const char* text = std::getenv("BATHLINE_SIGNAL_AT_STEP");
  if (text == nullptr || std::sscanf(text, "%d %ld %d", &number, &step, &its_rank) != 3) return;
  if (rank == its_rank && before < step && step <= now) std::raise(number);
}

/// Safety margin in seconds before the wall-time limit, besides the time of a block of steps and of a checkpoint.
double margin_of(double limit) { return std::min(30.0, 0.05 * limit); }

}  // namespace

StopSignals::StopSignals(const Communicator& communicator) {
  is_stoppable = 1;
  writes_message = communicator.is_root() ? 1 : 0;
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  const bool is_first = objects++ == 0;
  for (std::size_t i = 0; i < std::size(stop_signals) && is_first; ++i) {
    const int number = stop_signals[i].number;
    sigaction(number, &action, &previous_actions[i]);
    // A shell starts background processes with SIGINT ignored, and nohup ignores SIGHUP; that is kept.
    if ((number == SIGINT || number == SIGHUP) && previous_actions[i].sa_handler == SIG_IGN)
      sigaction(number, &previous_actions[i], nullptr);
  }
  communicator.barrier();
}

StopSignals::~StopSignals() {
  const bool is_last = --objects == 0;
  is_stoppable = is_last ? 1 : 0;
  if (!is_last) return;
  for (std::size_t i = 0; i < std::size(stop_signals); ++i) {
    // The handler of SIGUSR1 stays: a signal during MPI_Finalize must not make a complete run look killed, because a
    // job script would compute it again.
    const int number = stop_signals[i].number;
    if (number == SIGUSR1) continue;
    // The duplicate of a Ctrl-C may arrive while the program is already ending on the first one.
    if (number != SIGINT || interrupt_time < 0) sigaction(number, &previous_actions[i], nullptr);
  }
}

void StopSignals::begin(Part part) { is_stoppable = part == Part::stoppable ? 1 : 0; }

int StopSignals::received() { return signal_received; }

void report_stop() {
  report_time = milliseconds_now();
  reported_signal = signal_received;
  signal_received = 0;
  is_interrupted = 0;
}

void start_input_thread(std::function<void()> read) {
  // The reader of a pipe behind standard output or error may end as well; a message to it must not end the program.
  std::signal(SIGPIPE, SIG_IGN);
  // All signals are left to the other threads.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  std::thread(std::move(read)).detach();
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

void stop_at_end_of_input() {
  start_input_thread([] {
    char ignored[256];
    ssize_t count = 0;
    do {
      count = ::read(STDIN_FILENO, ignored, sizeof ignored);
    } while (count > 0 || (count < 0 && errno == EINTR));
    kill(getpid(), SIGTERM);
  });
}

Checkpoints::Checkpoints(CheckpointPlan plan, const Communicator& communicator, std::unique_ptr<CheckpointReader> from)
    : plan_(std::move(plan)),
      communicator_(std::make_unique<Communicator>(communicator)),
      from_(std::move(from)),
      exist_(from_ != nullptr),
      last_total_(from_ == nullptr ? 0 : from_->count("total_steps")),
      last_save_(elapsed()) {}

Checkpoints::Decision Checkpoints::decide(std::int64_t total, double block) {
  if (!communicator_) return Decision::proceed;
  raise_signal_of_test(std::exchange(last_total_, total), total, communicator_->rank());
  longest_block_ = std::max(longest_block_, block);
  int local_vote = Vote::proceed;
  const double now = elapsed();
  if (plan_.interval > 0.0 && now - last_save_ >= plan_.interval) local_vote = Vote::save_interval;
  // The first block is always run, so that a run with too short a limit still makes progress.
  const double needed = margin_of(plan_.wall_time) + 1.5 * longest_block_ + 2.0 * longest_save_;
  if (plan_.wall_time > 0.0 && block > 0.0 && now + needed >= plan_.wall_time) local_vote = Vote::wall_time_limit;
  for (std::size_t i = 0; i < std::size(stop_signals); ++i) {
    if (StopSignals::received() == stop_signals[i].number) local_vote = Vote::first_signal + static_cast<int>(i);
  }
  vote_ = static_cast<int>(communicator_->max(local_vote));
  return vote_ == Vote::proceed ? Decision::proceed : vote_ == Vote::save_interval ? Decision::save : Decision::stop;
}

std::string Checkpoints::stop_reason() const {
  return vote_ < Vote::first_signal ? "the wall-time limit" : stop_signals[vote_ - Vote::first_signal].name;
}

bool Checkpoints::save_if_due(const Position& position, bool is_due, double block,
                              const std::function<void(CheckpointWriter&)>& save_state) {
  const Decision decision = decide(position.total, block);
  if (decision == Decision::proceed && !is_due) return false;
  const bool stops = decision == Decision::stop;
  const std::string path = save(position.total, stops, save_state);
  if (stops) throw Stopped{stop_reason(), position.name, position.step, path};
  return true;
}

std::string Checkpoints::save(std::int64_t total, bool stops, const std::function<void(CheckpointWriter&)>& save) {
  const LogStage stage("Checkpoint");
  exist_ = true;
  const double begin = elapsed();
  const std::string path = checkpoint_name(plan_.path, total);
  try {
    CheckpointWriter writer(path, *communicator_);
    plan_.describe(writer.file());
    const double steps = static_cast<double>(total);
    writer.numbers("total_steps", {&steps, 1});
    save(writer);
    writer.commit(*plan_.result);
  } catch (const FileError& error) {
    // Thrown on every rank.
    if (stops) throw;
    spdlog::warn("no checkpoint could be written; the run continues without it: {}", error.what());
    last_save_ = elapsed();
    return "";
  }
  if (communicator_->is_root()) prune_checkpoints(find_checkpoint_files(plan_.path), total, plan_.keep);
  last_save_ = elapsed();
  longest_save_ = std::max(longest_save_, last_save_ - begin);
  return path;
}

void restore_from(const CheckpointReader* from, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::out_of_range& what) {
    if (from == nullptr) throw;
    throw FileError("{} does not match its own recipe: {}", from->path(), what.what());
  }
}

}  // namespace bathline
