// The stability boundary of a method, by a search in small strides, as the first interval of instability may be short.
// Tested by tests/methods/splitting_test.cpp.
#pragma once

#include <limits>

namespace bathline {

/// The first x > 0, up to rounding, where `grows(x)`; infinity where it does not up to `highest`. An interval narrower
/// than `stride` can be missed.
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
