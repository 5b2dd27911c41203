// The weights of an implicit scheme with one stage in the form of the reference steps of tests.
#pragma once

#include "methods/scheme.hpp"

namespace bathline {

/// From the start of a step to the stage and from there to its end.
struct OneStage {
  double a = 0.0;      ///< of the momenta
  double b = 0.0;      ///< of the displacements
  double a_end = 0.0;  ///< of the momenta
  double b_end = 0.0;  ///< of the displacements

  static OneStage of(const PartitionedRungeKutta& scheme) {
    const double a = scheme.a_hat(0, 0), b = scheme.a(0, 0), end = scheme.b[0];
    return {a, b, end - a, end - b};
  }
};

}  // namespace bathline
