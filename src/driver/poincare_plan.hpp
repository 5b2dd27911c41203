// The Poincare or stroboscopic section that a recipe requests.
#pragma once

#include <cmath>
#include <string>

#include "model/formula/phase_function.hpp"

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

/// Reads the table `[output] section`. Adds a mistake and throws UnreadableValue if there is one.
PoincarePlan read_poincare_plan(const Section& table, const ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
