// The section [output] of a recipe.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "model/formula/phase_function.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// Points where a function of the state crosses a value, or points at multiples of a period.
struct PoincarePlan {
  PhaseFunction function = {};  ///< empty for a stroboscopic section
  double value = 0.0;
  int direction = 1;    ///< 1: upwards, -1: downwards, 0: both
  double period = 0.0;  ///< of a stroboscopic section, s
  std::string title;    ///< "x = 0, upwards"
  /// The number of points of a stroboscopic section until the time `end`; 0 for other sections.
  double points(double end) const { return period > 0.0 ? std::floor(end / period * (1.0 + 1e-9)) : 0.0; }
};

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

/// Reads all but the Poincare section, which needs the system.
OutputPlan read_output(const Section& output);
/// Reads the table `[output] section`. Adds a mistake and throws InvalidValue if there is one.
PoincarePlan read_poincare_plan(const Section& table, const ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
