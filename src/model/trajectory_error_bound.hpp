// A bound on the error of a linear system's trajectory that an error of the environment's kernel causes.
#pragma once

#include <optional>

#include "model/attachment.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// A bound on the error of a coordinate, m, until `duration` s, to first order in `error`, the integral of the absolute
/// error of the kernel until then, kg/s. With a = c M^-1 c of the head x = c.q and the initial energy E, the speed of
/// the head in a passive environment is at most (2 E a)^1/2, so the error of the force is at most `error` times that; a
/// unit impulse on the head has the energy a/2, so it moves coordinate i by at most (a (K^-1)_ii)^1/2. Together this is
/// a (2 E max (K^-1)_ii)^1/2 error duration for every axis. Holds in continuous time. Nothing where the system is not
/// linear, not bound, driven, or has a random start.
std::optional<double> trajectory_error_bound(const ParticleSystem& system, const Attachment& attachment, double error,
                                             double duration);

}  // namespace bathline
