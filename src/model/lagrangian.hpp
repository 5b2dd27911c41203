// A Lagrangian of any form.
#pragma once

namespace bathline {

/// L(q, v, t, z) of n coordinates, their velocities, time and, where it is one of contact mechanics, the action z with
/// z' = L: one array of 2 n + 2 numbers in this order, of which z is the last. Joules, or the energy unit of the
/// recipe. Implementations are pure functions.
class Lagrangian {
 public:
  virtual ~Lagrangian() = default;
  virtual double value(const double* x) const = 0;
  /// Partial derivatives by q, v, t and z: 2 n + 2 numbers.
  virtual void gradient(const double* x, double* slopes) const = 0;
  /// Second derivatives by q, v and z: a symmetric matrix with 2 n + 1 rows.
  virtual void hessian(const double* x, double* curvatures) const = 0;
  /// Second derivatives by v and t, n numbers; left alone where L does not depend on time.
  virtual void momentum_rates(const double*, double*) const {}
  /// Whether the coordinate with this index matters, and not only its velocity: else it is cyclic.
  virtual bool depends_on_position(int) const { return true; }
  virtual bool depends_on_time() const { return false; }
  virtual bool depends_on_action() const { return false; }
};

}  // namespace bathline
