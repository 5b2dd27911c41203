// The section [output] of a recipe.
#pragma once

#include <cstdint>
#include <optional>

#include "driver/poincare_plan.hpp"
#include "recipe/section.hpp"

namespace bathline {

struct OutputPlan {
  std::int64_t every = 1;                             ///< steps between two records
  std::int64_t snapshots = 0;                         ///< steps between two snapshots; 0: none
  std::int64_t site_stride = 1;                       ///< every how many sites a snapshot stores
  bool particles_only = false;                        ///< drop sites that can no longer affect a particle
  bool work_rules = false;                            ///< integrate the work of damping by several quadrature rules
  std::optional<PoincarePlan> section = {};           ///< a Poincare section
  std::int64_t checkpoint_every = 0;                  ///< steps between two checkpoints; 0: none
  double checkpoint_interval = 0.0;                   ///< wall-clock seconds between two; 0: none
  std::optional<std::int64_t> keep_checkpoints = {};  ///< number of checkpoints kept, also after the end
};

/// Reads all but the Poincare section, which needs the system. Throws UnreadableValue if a key could not be read.
OutputPlan read_output(const Section& output);

}  // namespace bathline
