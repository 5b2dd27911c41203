// Whether a sum of decaying oscillations is passive at every frequency, and the smallest damper that makes it so.
#pragma once

#include <vector>

#include "model/memory/prony_memory.hpp"

namespace bathline {

/// The real part of the sum's transform on the imaginary axis, on a grid around every mode and far beyond all.
struct Passivity {
  double lowest = 0.0;     ///< the most negative value, or 0, kg/s
  double frequency = 0.0;  ///< of that value, rad/s
  double negative = 0.0;   ///< its integral where it is negative, over that of the absolute value for the modes
  PronyTerm damper = {};   ///< real exponential, faster than all modes, that makes the sum passive; k = 0 if it is
};

/// With a damper beside the modes, kg/s.
Passivity passivity_of(const std::vector<PronyTerm>& modes, double damping = 0.0);

}  // namespace bathline
