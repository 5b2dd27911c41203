// Constants of round-off bounds.
#pragma once

#include <limits>

namespace bathline {

/// Largest relative error of rounding to a double.
inline constexpr double unit_roundoff = 0.5 * std::numeric_limits<double>::epsilon();

/// Roundings of a term besides those of sums: about a dozen of a force or gradient, and a few of weights, masses and
/// step.
inline constexpr double roundings_of_a_term = 16.0;

/// Relative and absolute tolerance of the residual in Newton's method: the defaults of SnesSolver and of implicit
/// steppers.
inline constexpr double newton_relative = 1e-14;
inline constexpr double newton_roundoff = 4.0 * unit_roundoff;

}  // namespace bathline
