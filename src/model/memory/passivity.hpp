// Whether a sum of decaying oscillations takes energy at every frequency, and the least that has to be added to it.
#pragma once

#include <vector>

#include "model/memory/prony_memory.hpp"

namespace bathline {

/// Of the real part of the sum's transform on the imaginary axis, on a grid around every mode and far beyond all.
struct Passivity {
  double lowest = 0.0;    ///< the most negative value, or 0, kg/s
  double place = 0.0;     ///< where that is, rad/s
  double negative = 0.0;  ///< share of what is below 0 in the integral of its absolute values
  PronyTerm damper = {};  ///< real exponential, faster than all modes, with which there is none below 0; k = 0 for none
};

Passivity passivity_of(const std::vector<PronyTerm>& modes);

}  // namespace bathline
