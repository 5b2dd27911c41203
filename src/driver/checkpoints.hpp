// When a run saves itself, when it stops, and where it goes on after that.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "record/checkpoint_file.hpp"

namespace bathline {

/// How a run ends that was asked to stop: thrown on every rank alike once the checkpoint is on the disk.
struct Stopped {
  std::string why;         ///< "SIGUSR1"
  std::string label;       ///< the integrator that was at work
  std::int64_t step = 0;   ///< its steps so far
  std::string checkpoint;  ///< path
};

/// SIGUSR1, SIGTERM and SIGINT as requests to stop, as long as this lives. Where a program cannot stop with a
/// checkpoint it goes on after SIGUSR1 to where it can, saying so, and ends by the others; a second SIGINT ends it at
/// once wherever it is. To be made before the result file: a signal that comes before this ends a program that has
/// written nothing. From then on SIGUSR1 ends no program any more: what comes when this is gone is only kept, for who
/// asks what was received.
class StopSignals {
 public:
  /// All ranks listen when it is done. @note Collective.
  explicit StopSignals(const Communicator& communicator);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  enum class Part { stoppable, unstoppable };
  /// What the part of a run that begins now is.
  static void begin(Part part);
  /// The signal that has come to this process, 0 if none has.
  static int received();
};

/// What the recipe and the command line say of saving and stopping.
struct CheckpointPlan {
  std::string result;      ///< path of the result file
  std::int64_t every = 0;  ///< steps of an integrator between checkpoints; 0: none
  double interval = 0.0;   ///< wall-clock seconds between checkpoints; 0: none
  std::int64_t keep = 2;
  double wall_time = 0.0;  ///< seconds from `started` in which the run has to be over; 0: without limit
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::function<void(ResultFile&)> describe;  ///< writes the attributes by which `resume` knows the run
};

/// Saves a run on its way. Without a plan it never does.
class Checkpoints {
 public:
  Checkpoints() = default;
  Checkpoints(CheckpointPlan plan, const Communicator& communicator, std::unique_ptr<CheckpointReader> from);

  const CheckpointPlan& plan() const { return plan_; }
  /// Where this run goes on from, if it does not begin.
  const CheckpointReader* from() const { return from_.get(); }

  enum class Decision { proceed, save, stop };
  /// What to do now, `block` seconds after it was asked last. Signals that came to any rank and clocks that differ lead
  /// to the same answer everywhere. @note Collective.
  Decision decide(double block);
  /// Why the last answer was to stop.
  std::string why() const;
  /// Writes the checkpoint of `total` steps, counted over all integrators, and returns its path. `save` fills in the
  /// state. Where it cannot be written the run goes on with a warning, unless it is to stop: then FileError.
  /// @note Collective.
  std::string save(std::int64_t total, bool stops, const std::function<void(CheckpointWriter&)>& save);

 private:
  using Clock = std::chrono::steady_clock;
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - plan_.started).count(); }

  CheckpointPlan plan_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<CheckpointReader> from_;
  double saved_at_ = 0.0;
  double longest_block_ = 0.0, longest_save_ = 0.0;
  int reason_ = 0;
};

/// Does `work`, which reads from a checkpoint. Throws FileError where that finds another number of values there than
/// the recipe leads to, as std::out_of_range on every rank.
void fit_to_recipe(const CheckpointReader* from, const std::function<void()>& work);

}  // namespace bathline
