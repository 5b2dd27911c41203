// When a run writes a checkpoint or stops, by the clock and by signals (by steps: time_loop, resumable_tasks), and
// where a resumed run continues.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "record/checkpoint_file.hpp"

namespace bathline {

/// Ends a run that was requested to stop: thrown on every rank once the checkpoint is on the disk.
struct Stopped {
  std::string reason;      ///< "SIGUSR1"
  std::string name;        ///< of the integrator that was running
  std::int64_t step = 0;   ///< steps of that integrator so far
  std::string checkpoint;  ///< path
};

/// Treats SIGUSR1, SIGUSR2, SIGXCPU, SIGHUP, SIGTERM and SIGINT as requests to stop during the lifetime of one of these
/// objects, also between the runs of a sweep that has one. In a part that cannot stop with a checkpoint, as after the
/// last step, they are deferred with a message; a second SIGINT ends the program at once. Construct it before the
/// result file and its lock, so that an earlier signal ends a program that has written nothing. After destruction
/// SIGUSR1 does not end the program. A request is kept until `report_stop`, whichever object there is
/// (driver/stop_signals.hpp).
class StopSignals {
 public:
  /// When it returns, the handlers are installed on all ranks. @note Collective.
  explicit StopSignals(const Communicator& communicator);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  enum class Part { stoppable, unstoppable };
  /// Declares whether the part of the run that begins now can stop with a checkpoint.
  static void begin(Part part);
  /// The last signal that this process received and did not report, or 0.
  static int received();
};

/// Calls `read` in a detached thread that receives no signals; SIGPIPE is ignored from then on.
void start_input_thread(std::function<void()> read);
/// Sends this process SIGTERM when its standard input ends, as a pipe does with the process that holds its other end.
void stop_at_end_of_input();

/// When to write checkpoints and when to stop, from the recipe and the command line.
struct CheckpointPlan {
  std::string path;              ///< of the result file
  ResultFile* result = nullptr;  ///< the same, open
  std::int64_t every = 0;        ///< steps of an integrator between checkpoints; 0: none
  double interval = 0.0;         ///< wall-clock seconds between checkpoints; 0: none
  std::int64_t keep = 2;
  double wall_time = 0.0;  ///< limit in seconds, counted from `started`; 0: no limit
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::function<void(ResultFile&)> describe;  ///< writes the attributes by which `resume` identifies the run
};

/// Writes the checkpoints of a run; none if constructed without a plan. BATHLINE_SIGNAL_AT_STEP="<signal> <step>
/// <rank>", three numbers, is for tests that may not depend on a clock: that rank raises the signal at the first check
/// of the run at or after that step.
class Checkpoints {
 public:
  Checkpoints() = default;
  Checkpoints(CheckpointPlan plan, const Communicator& communicator, std::unique_ptr<CheckpointReader> from);

  const CheckpointPlan& plan() const { return plan_; }
  /// The checkpoint that a resumed run continues from; null for a new run.
  const CheckpointReader* from() const { return from_.get(); }
  /// Whether there may be checkpoints of the run.
  bool exist() const { return exist_; }

  /// The position of a run: after `step` steps of integrator `name`, `total` counted over all integrators.
  struct Position {
    const std::string& name;
    std::int64_t step, total;
  };
  /// Writes a checkpoint if `is_due` or by clock or signal, and throws Stopped if the run is to stop; the last block of
  /// steps took `block` seconds. `save` adds the state. All ranks decide the same, whichever of them received a signal
  /// and however their clocks differ. If a checkpoint cannot be written, the run continues with a warning, or, if it is
  /// to stop, FileError is thrown. Returns whether it was due. @note Collective.
  bool save_if_due(const Position& position, bool is_due, double block,
                   const std::function<void(CheckpointWriter&)>& save);

 private:
  enum class Decision { proceed, save, stop };
  Decision decide(std::int64_t total, double block);
  /// Why the last decision was to stop.
  std::string stop_reason() const;
  /// Returns the path of the checkpoint.
  std::string save(std::int64_t total, bool stops, const std::function<void(CheckpointWriter&)>& save);

  using Clock = std::chrono::steady_clock;
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - plan_.started).count(); }

  CheckpointPlan plan_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<CheckpointReader> from_;
  bool exist_ = false;
  std::int64_t last_total_ = 0;
  double last_save_ = 0.0;
  double longest_block_ = 0.0, longest_save_ = 0.0;
  int vote_ = 0;
};

/// Calls `work`, which reads from a checkpoint, and turns its std::out_of_range, thrown on every rank when the number
/// of values differs from what the recipe implies, into FileError.
void restore_from(const CheckpointReader* from, const std::function<void()>& work);

}  // namespace bathline
