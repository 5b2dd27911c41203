// Work that is interrupted only between its pieces.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "steppers/stepper.hpp"
#include "driver/checkpoints.hpp"
#include "driver/experiment.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// Where a run can be saved or stopped.
class CheckpointPoints {
 public:
  explicit CheckpointPoints(Checkpoints& checkpoints);
  /// Signals stop nothing any more.
  ~CheckpointPoints();
  CheckpointPoints(const CheckpointPoints&) = delete;
  CheckpointPoints& operator=(const CheckpointPoints&) = delete;

  /// Before a piece of `ahead` steps that belongs to `label`, `done` steps into the run: saves or throws Stopped, if
  /// that is wanted. `save` fills in what is known. @note Collective.
  void checkpoint_if_due(const std::string& label, std::int64_t done, std::int64_t ahead,
                         const std::function<void(CheckpointWriter&)>& save);

 private:
  using Clock = std::chrono::steady_clock;

  Checkpoints& checkpoints_;
  std::int64_t saved_ = 0;     // steps
  std::int64_t done_ = 0;      // steps at the last break
  double longest_step_ = 0.0;  // s
  Clock::time_point last_;
};

/// What pieces of work have found, one after the other: checkpoints keep it, so that no piece is done twice.
class ResumableTasks {
 public:
  /// Whether a run goes on among pieces.
  static bool are_in(const CheckpointReader* from);

  /// The pieces come after the trajectories of the first cases, `recorded`, on whose records in the file the
  /// checkpoints rely. @note Collective. Throws FileError where the checkpoint does not hold what it should.
  ResumableTasks(Checkpoints& checkpoints, ResultFile& file, std::span<const Case> recorded);

  /// Leaves what a piece finds in an empty list, on every rank.
  using Work = std::function<std::optional<Failure>(std::vector<double>& found)>;
  /// The next piece, of `steps` steps for `label`: the `size` numbers that it has found, or finds now.
  /// @note Collective. Throws Stopped; FileError where the checkpoint holds another number of them.
  std::optional<Failure> next(const std::string& label, std::int64_t steps, std::size_t size,
                              std::vector<double>& found, const Work& work);
  /// Whether the last piece was known from the checkpoint.
  bool recalled() const { return recalled_; }

 private:
  Checkpoints& checkpoints_;
  ResultFile& file_;
  std::size_t recorded_;
  CheckpointPoints breaks_;
  std::vector<std::vector<double>> known_;
  std::size_t next_ = 0;
  bool recalled_ = false;
  std::int64_t steps_ = 0;  // of the trajectories and of the pieces so far
};

}  // namespace bathline
