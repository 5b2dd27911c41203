// The update of a line's sites by explicit schemes: the one expression that every path shares, for single sites and for
// as many as there are lanes, so that all paths give the same bits.
#pragma once

#include "parallel/lanes.hpp"

namespace bathline {

/// Momentum after a kick of `strength`, where `left` and `right` are the pulls of the springs on either side: their
/// stretch, or on a line whose springs differ their stretch times their stiffness.
template <class Number>
inline Number kicked(Number p, Number strength, Number left, Number right) {
  return fused(strength, right - left, p);
}
/// Displacement after a drift of `rate` = weight h / mass.
template <class Number>
inline Number drifted(Number w, Number rate, Number p) {
  return fused(rate, p, w);
}

/// Momentum of a site of a uniform line, after a kick of `strength` = weight h stiffness, from the displacements.
inline double kicked(double p, double strength, double left, double here, double right) {
  return kicked(p, strength, here - left, right - here);
}
}  // namespace bathline
