// What roundings err by, for bounds that count them.
#pragma once

#include <limits>

namespace bathline {

/// Largest relative error of rounding to a double.
inline constexpr double unit_roundoff = 0.5 * std::numeric_limits<double>::epsilon();

/// Roundings of a term besides those of sums: the dozen of a force or of a potential's slope, and the few of weights,
/// masses and the step itself.
inline constexpr double roundings_of_a_term = 16.0;

/// To which the integrators' Newton method reduces its residual, and what it takes for zero: the defaults of
/// SnesSolver and of the implicit steppers.
inline constexpr double newton_relative = 1e-14;
inline constexpr double newton_roundoff = 4.0 * unit_roundoff;

}  // namespace bathline
