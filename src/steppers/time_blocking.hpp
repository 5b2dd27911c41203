// What all steppers of explicit schemes share: blocks of steps as long as the environments take.
// Tested by tests/steppers/explicit_stepper_test.cpp.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "steppers/stepper.hpp"

namespace bathline {

using ExplicitEnvironmentSteppers = std::vector<std::unique_ptr<ExplicitEnvironmentStepper>>;

/// Whether any force depends on velocities: only where none does may kicks in a row be merged.
inline bool depends_on_velocity(const Problem& problem) {
  const auto& environments = problem.environments();
  return problem.depends_on_velocity() ||
         std::any_of(environments.begin(), environments.end(),
                     [](const auto& environment) { return environment->properties().loses_energy; });
}

/// At most `most` steps of the next block, or fewer where an environment takes no more.
inline int next_block_length(const ExplicitEnvironmentSteppers& environment_steppers, std::int64_t most) {
  constexpr std::int64_t longest = 1 << 20;
  auto block = static_cast<int>(std::min(most, longest));
  for (const auto& stepper : environment_steppers) block = std::min(block, stepper->max_block_steps());
  return block;
}

/// As many steps as the environments take at once: fewer would give up what blocks gain.
inline std::int64_t block_granularity_of(const ExplicitEnvironmentSteppers& environment_steppers) {
  return environment_steppers.empty()
             ? 1
             : next_block_length(environment_steppers, std::numeric_limits<std::int64_t>::max());
}

/// `take(block)` takes `block` steps, again and again, until there have been `steps`; on every rank. @note Collective.
template <class Take>
void advance_in_blocks(const ExplicitEnvironmentSteppers& environment_steppers, std::int64_t steps,
                       const AdvanceHints& ahead, Take take) {
  while (steps > 0) {
    const int block = next_block_length(environment_steppers, steps);
    steps -= block;
    for (const auto& stepper : environment_steppers) stepper->begin_block(ahead.plan(block, steps));
    take(block);
    for (const auto& stepper : environment_steppers) stepper->end_block();
  }
}

}  // namespace bathline
