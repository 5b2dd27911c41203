// The largest step with which an integrator stays bounded on a problem.
#pragma once

#include "methods/method.hpp"
#include "model/problem.hpp"

namespace bathline {

struct StabilityLimit {
  double largest_step = 0.0;  ///< infinity where every step is stable
  bool never_stable = false;  ///< no step is
  bool is_linear = true;      ///< else the limit is that of the system linearised at the start
};

/// Closed problems: the highest frequency of particles and environments against the method's limit for an oscillation,
/// and those of environments with decay against its limit for a decay as well, except for splittings, which solve it
/// exactly. Open problems: the spectral radius of the method's step matrix; with more than 24 degrees of freedom, only
/// of the fastest and the most damped motions. @note Collective.
StabilityLimit stability_limit(const Problem& problem, const Method& method, const Section& options);

/// Highest frequency of the problem linearised at its start, rad/s. Particles with a Lagrangian of another form, whose
/// masses may couple coordinates, are treated as if no environment were attached.
double highest_frequency(const Problem& problem);

/// Highest frequency of the particles alone, linearised at the start, rad/s; zero for free particles.
double particle_frequency(const ParticleSystem& system);

}  // namespace bathline
