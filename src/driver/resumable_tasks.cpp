// A sequence of tasks that can be interrupted and resumed between tasks.
// Tested by tests/command_line/resume_test.py.
#include "driver/resumable_tasks.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace bathline {

CheckpointPoints::CheckpointPoints(Checkpoints& checkpoints) : checkpoints_(checkpoints), last_(Clock::now()) {
  if (const CheckpointReader* from = checkpoints.from()) saved_ = done_ = from->count("total_steps");
  StopSignals::begin(StopSignals::Part::stoppable);
}

CheckpointPoints::~CheckpointPoints() { StopSignals::begin(StopSignals::Part::unstoppable); }

void CheckpointPoints::checkpoint_if_due(const std::string& label, std::int64_t done, std::int64_t ahead,
                                         const std::function<void(CheckpointWriter&)>& save) {
  const double seconds = std::chrono::duration<double>(Clock::now() - last_).count();
  if (done > done_) longest_step_ = std::max(longest_step_, seconds / static_cast<double>(done - done_));
  const std::int64_t every = checkpoints_.plan().every;
  if (checkpoints_.save_if_due({label, done, done}, every > 0 && done - saved_ >= every,
                               longest_step_ * static_cast<double>(ahead), save)) {
    saved_ = done;
  }
  done_ = done;
  last_ = Clock::now();
}

bool ResumableTasks::has_tasks(const CheckpointReader* from) {
  return from != nullptr && !from->names("pieces").empty();
}

ResumableTasks::ResumableTasks(Checkpoints& checkpoints, std::span<const Case> recorded)
    : checkpoints_(checkpoints), checkpoint_points_(checkpoints) {
  for (const Case& this_case : recorded) steps_ += this_case.steps;
  const CheckpointReader* from = checkpoints.from();
  // A checkpoint without tasks was written within a trajectory.
  if (!has_tasks(from)) return;
  restore_from(from, [&] { serialise(Archive(*from, "pieces")); });
}

void ResumableTasks::serialise(Archive archive) {
  archive.counts("count", {&completed_});
  archive.numbers("results", results_);
}

std::optional<Failure> ResumableTasks::next(const std::string& label, std::int64_t steps, std::size_t size,
                                            std::vector<double>& result, const Work& work) {
  const std::int64_t done = steps_;
  steps_ += steps;
  was_restored_ = next_ < completed_;
  ++next_;
  if (was_restored_) {
    const std::size_t first = std::exchange(read_, read_ + size);
    restore_from(checkpoints_.from(), [&] {
      if (next_ < completed_ ? read_ > results_.size() : read_ != results_.size())
        throw std::out_of_range("pieces/results");
    });
    result.assign(results_.data() + first, results_.data() + read_);
    return std::nullopt;
  }
  checkpoint_points_.checkpoint_if_due(label, done, steps,
                                       [&](CheckpointWriter& checkpoint) { serialise(Archive(checkpoint, "pieces")); });
  result.clear();
  if (std::optional<Failure> failure = work(result)) return failure;
  results_.insert(results_.end(), result.begin(), result.end());
  ++completed_;
  return std::nullopt;
}

}  // namespace bathline
