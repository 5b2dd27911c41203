// What the section [output] of a recipe asks for.
#pragma once

#include <cstdint>
#include <optional>

#include "driver/poincare_plan.hpp"
#include "recipe/section.hpp"

namespace bathline {

struct OutputPlan {
  std::int64_t every = 1;                    ///< steps between two records
  std::int64_t snapshots = 0;                ///< steps between two snapshots; 0: none
  std::int64_t site_stride = 1;              ///< sites between two that a snapshot holds
  bool particles_only = false;               ///< whether sites may be left behind that no particle will feel any more
  bool work_rules = false;                   ///< whether the work of damping is summed by several rules
  std::optional<PoincarePlan> section = {};  ///< a Poincare section
  std::int64_t checkpoint_every = 0;         ///< steps between two checkpoints; 0: none
  double checkpoint_interval = 0.0;          ///< wall-clock seconds between two; 0: none
  std::optional<std::int64_t> keep_checkpoints = {};  ///< how many are kept, also at the end
};

/// All but the section, which needs the system. Throws UnreadableValue where one of its keys could not be read.
OutputPlan read_output(const Section& output);

}  // namespace bathline
