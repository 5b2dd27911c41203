// What all steppers of explicit schemes share: blocks of steps as long as the environments take.
// Tested by tests/advance/explicit_stepper_test.cpp.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "advance/stepper.hpp"

namespace bathline {

using ExplicitMarches = std::vector<std::unique_ptr<ExplicitMarch>>;

/// Whether any force depends on velocities: only where none does may kicks in a row be merged.
inline bool feels_velocity(const Problem& problem) {
  const auto& environments = problem.environments();
  return problem.feels_velocity() || std::any_of(environments.begin(), environments.end(), [](const auto& environment) {
           return environment->facts().loses_energy;
         });
}

/// At most `most` steps of the next block, or fewer where an environment takes no more.
inline int longest_block(const ExplicitMarches& marches, std::int64_t most) {
  constexpr std::int64_t longest = 1 << 20;
  auto block = static_cast<int>(std::min(most, longest));
  for (const auto& march : marches) block = std::min(block, march->limit());
  return block;
}

/// As many steps as the environments take at once: fewer would give up what blocks gain.
inline std::int64_t portion_of(const ExplicitMarches& marches) {
  return marches.empty() ? 1 : longest_block(marches, std::numeric_limits<std::int64_t>::max());
}

/// `take(block)` takes `block` steps, again and again, until there have been `steps`; on every rank. @note Collective.
template <class Take>
void advance_in_blocks(const ExplicitMarches& marches, std::int64_t steps, const Foresight& ahead, Take take) {
  while (steps > 0) {
    const int block = longest_block(marches, steps);
    steps -= block;
    for (const auto& march : marches) march->open(ahead.plan(block, steps));
    take(block);
    for (const auto& march : marches) march->close();
  }
}

}  // namespace bathline
