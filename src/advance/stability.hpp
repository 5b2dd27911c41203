// The largest step with which an integrator stays bounded on a problem.
#pragma once

#include "integrate/method.hpp"
#include "model/problem.hpp"

namespace bathline {

struct StabilityLimit {
  double largest_step = 0.0;  ///< infinity where every step is stable
  bool never_stable = false;  ///< no step is
  bool is_linear = true;      ///< else the limit is that of the system linearised at the start
};

/// Closed problems: the highest frequency of particles and environments against the method's limit for an oscillation.
/// Open ones: the spectral radius of the method's step matrix. @note Collective.
StabilityLimit stability_limit(const Problem& problem, const Method& method, const Section& options);

}  // namespace bathline
