// Where a method begins to be unstable, looked for in small strides: instability may end again a little further on.
// Tested by tests/methods/splitting_test.cpp.
#pragma once

#include <limits>

namespace bathline {

/// The first x > 0, up to rounding, where `grows(x)`; infinity where it does not up to `highest`. What is narrower than
/// `stride` can be overlooked.
template <class Grows>
double find_stability_boundary(const Grows& grows, double stride, double highest) {
  for (double x = stride; x < highest; x += stride) {
    if (!grows(x)) continue;
    double stable = x - stride, unstable = x;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (stable + unstable);
      (grows(middle) ? unstable : stable) = middle;
    }
    return stable;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace bathline
