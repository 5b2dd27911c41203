// A sequence of tasks that can be interrupted and resumed between tasks.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "steppers/stepper.hpp"
#include "driver/archive.hpp"
#include "driver/checkpoints.hpp"
#include "driver/experiment.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// Points at which a run can be saved or stopped.
class CheckpointPoints {
 public:
  explicit CheckpointPoints(Checkpoints& checkpoints);
  /// From here on the run cannot be stopped with a checkpoint.
  ~CheckpointPoints();
  CheckpointPoints(const CheckpointPoints&) = delete;
  CheckpointPoints& operator=(const CheckpointPoints&) = delete;

  /// To be called after `done` steps of the run, before a task of `ahead` steps for `label`: writes a checkpoint, or
  /// throws Stopped, if that is due. `save` adds the results so far. @note Collective.
  void checkpoint_if_due(const std::string& label, std::int64_t done, std::int64_t ahead,
                         const std::function<void(CheckpointWriter&)>& save);

 private:
  using Clock = std::chrono::steady_clock;

  Checkpoints& checkpoints_;
  std::int64_t saved_ = 0;     // steps
  std::int64_t done_ = 0;      // steps at the last call
  double longest_step_ = 0.0;  // s
  Clock::time_point last_;
};

/// The results of a sequence of tasks. Checkpoints store them, so that a resumed run computes none of them twice.
class ResumableTasks {
 public:
  /// Whether a checkpoint was written between tasks.
  static bool has_tasks(const CheckpointReader* from);

  /// The tasks follow the trajectories of the first cases, `recorded`, whose records are already in the file. Throws
  /// FileError if the checkpoint does not match. @note Collective.
  ResumableTasks(Checkpoints& checkpoints, std::span<const Case> recorded);

  /// Appends its results to an empty list, on every rank.
  using Work = std::function<std::optional<Failure>(std::vector<double>& result)>;
  /// The next task, of `steps` steps for `label`: its `size` results from the checkpoint, else from `work`. Throws
  /// Stopped, and FileError if the checkpoint has another number of results. @note Collective.
  std::optional<Failure> next(const std::string& label, std::int64_t steps, std::size_t size,
                              std::vector<double>& result, const Work& work);
  /// Whether the results of the last task were read from the checkpoint.
  bool was_restored() const { return was_restored_; }

 private:
  void serialise(Archive archive);

  Checkpoints& checkpoints_;
  CheckpointPoints checkpoint_points_;
  std::vector<double> results_;  // of all tasks that are completed, one after the other
  std::int64_t completed_ = 0, next_ = 0;
  std::size_t read_ = 0;  // results of restored tasks
  bool was_restored_ = false;
  std::int64_t steps_ = 0;  // of the trajectories and of the tasks so far
};

}  // namespace bathline
