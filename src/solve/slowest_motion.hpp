// The slowest motion of a linear system, in words.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "solve/dense.hpp"

namespace bathline {

/// "the slowest motion, at 2 rad/s, decays at 0.1 1/s".
inline std::string describe(const SlowestMotion& motion) {
  const std::string which = motion.frequency > 0.0 ? fmt::format(", at {:.6g} rad/s,", motion.frequency) : "";
  return fmt::format("the slowest motion{} {} at {:.6g} 1/s, with an uncertainty of {:.1e} 1/s", which,
                     motion.rate < 0.0 ? "grows" : "decays", std::abs(motion.rate), motion.uncertainty);
}

/// The relative error by round-off of integrals over the motion.
inline double relative_uncertainty(const SlowestMotion& motion) { return motion.uncertainty / motion.rate; }

}  // namespace bathline
