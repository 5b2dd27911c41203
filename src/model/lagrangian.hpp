// A Lagrangian of any form.
#pragma once

namespace bathline {

/// L(q, v, t) of n coordinates, their velocities and time, which stand in one array of 2 n + 1 numbers in this order.
/// Joules, or the energy unit of the recipe. Implementations are pure functions.
class Lagrangian {
 public:
  virtual ~Lagrangian() = default;
  virtual double value(const double* x) const = 0;
  /// Partial derivatives by q, v and t: 2 n + 1 numbers.
  virtual void slopes(const double* x, double* slopes) const = 0;
  /// Second derivatives by q and v: a symmetric matrix with 2 n rows.
  virtual void curvatures(const double* x, double* curvatures) const = 0;
  virtual bool depends_on_time() const { return false; }
};

}  // namespace bathline
