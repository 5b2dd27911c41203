// Blocks of steps as long as the environments allow, for all steppers of explicit schemes.
// Tested by tests/steppers/explicit_stepper_test.cpp.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "steppers/stepper.hpp"

namespace bathline {

using ExplicitEnvironmentSteppers = std::vector<std::unique_ptr<ExplicitEnvironmentStepper>>;

/// Whether any force depends on velocities; consecutive kicks may be merged only where none does.
inline bool depends_on_velocity(const Problem& problem, FrictionParts parts = {}) {
  const auto& environments = problem.stepped_environments();
  return problem.depends_on_velocity(parts) ||
         std::any_of(environments.begin(), environments.end(),
                     [](const auto& environment) { return environment->properties().loses_energy; });
}

/// The length of the next block: `max_steps`, or fewer where an environment allows no more.
inline int next_block_length(const ExplicitEnvironmentSteppers& environment_steppers, std::int64_t max_steps) {
  constexpr std::int64_t max_block = 1 << 20;
  auto block = static_cast<int>(std::min(max_steps, max_block));
  for (const auto& stepper : environment_steppers) block = std::min(block, stepper->max_block_steps());
  return block;
}

/// The number of steps that the environments take at once; fewer would lose the gain of blocks.
inline std::int64_t block_granularity_of(const ExplicitEnvironmentSteppers& environment_steppers) {
  return environment_steppers.empty()
             ? 1
             : next_block_length(environment_steppers, std::numeric_limits<std::int64_t>::max());
}

/// Calls `advance_block(block)`, which advances by `block` steps, until `steps` are done; on every rank.
/// @note Collective.
template <class AdvanceBlock>
void advance_in_blocks(const ExplicitEnvironmentSteppers& environment_steppers, std::int64_t steps,
                       const AdvanceHints& ahead, AdvanceBlock advance_block) {
  while (steps > 0) {
    const int block = next_block_length(environment_steppers, steps);
    steps -= block;
    for (const auto& stepper : environment_steppers) stepper->begin_block(ahead.plan(block, steps));
    advance_block(block);
    for (const auto& stepper : environment_steppers) stepper->end_block();
  }
}

}  // namespace bathline
