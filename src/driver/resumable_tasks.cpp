// A sequence of tasks that can be interrupted and resumed between tasks.
// Tested by tests/command_line/resume_test.py.
#include "driver/resumable_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace bathline {

namespace {

constexpr const char* count_name = "pieces/count";

std::string name_of(std::size_t task) { return fmt::format("pieces/{}", task); }

}  // namespace

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
  restore_from(from, [&] {
    const std::int64_t count = from->count(count_name);
    for (std::int64_t i = 0; i < count; ++i) results_.push_back(from->numbers(name_of(static_cast<std::size_t>(i))));
  });
}

std::optional<Failure> ResumableTasks::next(const std::string& label, std::int64_t steps, std::size_t size,
                                            std::vector<double>& result, const Work& work) {
  const std::size_t task = next_++;
  const std::int64_t done = steps_;
  steps_ += steps;
  was_restored_ = task < results_.size();
  if (was_restored_) {
    restore_from(checkpoints_.from(), [&] {
      if (results_[task].size() != size) throw std::out_of_range(name_of(task));
    });
    result = results_[task];
    return std::nullopt;
  }
  checkpoint_points_.checkpoint_if_due(label, done, steps, [&](CheckpointWriter& checkpoint) {
    const auto count = static_cast<double>(results_.size());
    checkpoint.numbers(count_name, {&count, 1});
    for (std::size_t i = 0; i < results_.size(); ++i) checkpoint.numbers(name_of(i), results_[i]);
  });
  result.clear();
  if (std::optional<Failure> failure = work(result)) return failure;
  results_.push_back(result);
  return std::nullopt;
}

}  // namespace bathline
