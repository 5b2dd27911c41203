// Motions of linear particles that no environment damps, or hardly: those that do not move a head.
#pragma once

#include <optional>
#include <vector>

#include "model/problem.hpp"
#include "solve/dense.hpp"

namespace bathline {

struct DarkMotions {
  std::vector<double> frequencies;       ///< of the normal modes that no damping sees, rad/s, ascending; 0 where free
  std::optional<SlowestMotion> slowest;  ///< of all other motions; nothing where its rate is unknown or 0
  bool is_linearised = false;            ///< whether a coupling is not linear, and taken at the start
};

/// With the damping constants of environments that store energy in the place of these. Nothing for particles without
/// linear forces or without damping, in a magnetic field, or more than a thousand.
std::optional<DarkMotions> dark_motions(const Problem& problem);

}  // namespace bathline
