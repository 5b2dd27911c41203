// A potential of one separation.
#pragma once

namespace bathline {

/// A function V(s) of a separation s in m; J, N and N/m. With one axis s has a sign and V is used on both sides of
/// zero, with several it is a distance. Where there is no value, NaN or infinity: the run then ends as a numerical
/// failure.
class SeparationPotential {
 public:
  virtual ~SeparationPotential() = default;
  virtual double value(double s) const = 0;
  virtual double slope(double s) const = 0;
  virtual double curvature(double s) const = 0;
  /// Whether V = k s^2 / 2 up to a constant, so that the force is linear in the positions.
  virtual bool is_quadratic() const { return false; }
};

}  // namespace bathline
