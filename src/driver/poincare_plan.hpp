// Which surface of section a recipe asks for.
#pragma once

#include <string>

#include "model/formula/phase_function.hpp"

namespace bathline {

/// Where a function of the state crosses a value, or every so many seconds.
struct PoincarePlan {
  PhaseFunction of = {};  ///< empty where it is `period` that counts
  double at = 0.0;
  int direction = 1;    ///< 1: upwards, -1: downwards, 0: both
  double period = 0.0;  ///< s
  std::string title;    ///< "x = 0, upwards"
};

/// Reads the table `[output] section`. Where there is a mistake, it is added and UnreadableValue thrown.
PoincarePlan read_poincare_plan(const Section& table, const ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
