// Runs that are taken a second time, one step after the other.
// Tested by tests/study/commutativity_test.cpp.
#include "study/step_comparison.hpp"

#include <utility>

#include "driver/time_loop.hpp"

namespace bathline {

void LargestValues::end_record() {
  for (std::size_t i = 0; i < by_record_.size(); ++i) by_record_[i].push_back(std::exchange(since_record_[i], none_));
}

std::optional<Failure> compare_steps(const Case& this_case, std::int64_t every, Problem& problem, Progress& progress,
                                     const StepComparison& comparison) {
  const std::unique_ptr<Stepper> stepper = make_stepper(this_case.scheme, problem, this_case.step);
  const auto state = [&] {
    return ParticleState{problem.q, problem.p, problem.z, problem.clock.at(0.0), problem.velocity()};
  };
  std::int64_t failed_step = 0;
  progress.begin(comparison.label, this_case.steps);
  for (std::int64_t step = 1; step <= this_case.steps; ++step) {
    const ParticleState before = state();
    if (std::optional<Failure> failure = stepper->advance(1)) return failure;
    progress.update(step);
    if (!problem.communicator().is_root() || failed_step > 0) continue;
    if (!comparison.compare(before, state())) {
      failed_step = step;
    } else if (step % every == 0 || step == this_case.steps) {
      comparison.end_record();
    }
  }
  progress.end();
  problem.communicator().broadcast(std::span<std::int64_t>(&failed_step, 1));
  if (failed_step == 0) return std::nullopt;
  return Failure{failed_step, 0.0, comparison.reason};
}

std::optional<CaseFailure> SecondRunStudy::run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) {
  if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {}))
    return failure;
  for (const Case& this_case : experiment_.cases()) {
    if (!is_examined(this_case)) continue;
    if (const std::optional<Failure> failure = examine(this_case, file, progress))
      return CaseFailure{this_case.name, *failure};
    file.flush();
  }
  return std::nullopt;
}

}  // namespace bathline
