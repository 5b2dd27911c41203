// What an error of an environment's kernel does to the path of a linear system.
#pragma once

#include <optional>

#include "model/attachment.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// The largest error of a coordinate, m, until `duration` s, to first order in `error`, the absolute integral of the
/// kernel's errors until then, kg/s. With a = c M^-1 c of the head x = c.q and the energy E of the start, no passive
/// environment lets the head move faster than (2 E a)^1/2, so that the force is wrong by `error` times that at most; an
/// impulse on the head has the energy a/2, so that it moves coordinate i by (a (K^-1)_ii)^1/2 at most. Together
/// a (2 E max (K^-1)_ii)^1/2 error duration, for every axis. Nothing where the system is not linear, not held, driven,
/// or drawn at random. Of the motion in continuous time.
std::optional<double> trajectory_error_bound(const ParticleSystem& system, const Attachment& attachment, double error,
                                             double duration);

}  // namespace bathline
