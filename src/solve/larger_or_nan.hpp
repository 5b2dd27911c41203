// Maxima that keep what is not a number.
#pragma once

#include <cmath>

namespace bathline {

/// The larger of two numbers, or NaN if either is: std::max returns its first argument where the second is NaN, so that
/// a largest error would leave out the errors that are not numbers.
inline double larger_or_nan(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace bathline
