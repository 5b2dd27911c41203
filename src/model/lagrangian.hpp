// The interface of Lagrangians of arbitrary form.
#pragma once

namespace bathline {

/// L(q, v, t, z) of n coordinates, their velocities, time and, in contact mechanics, the action z with z' = L. The
/// argument x is one array of 2 n + 2 numbers in this order. Joules, or the energy unit of the recipe. Implementations
/// are pure functions.
class Lagrangian {
 public:
  virtual ~Lagrangian() = default;
  virtual double value(const double* x) const = 0;
  /// Partial derivatives by q, v, t and z: 2 n + 2 numbers.
  virtual void gradient(const double* x, double* gradient) const = 0;
  /// Second derivatives by q, v and z: a symmetric matrix with 2 n + 1 rows.
  virtual void hessian(const double* x, double* hessian) const = 0;
  /// Second derivatives by v and t, n numbers; not written where L does not depend on time.
  virtual void momentum_rates(const double*, double*) const {}
  /// Whether L depends on the coordinate with this index; if not, it is cyclic.
  virtual bool depends_on_position(int) const { return true; }
  virtual bool depends_on_time() const { return false; }
  virtual bool depends_on_action() const { return false; }
};

}  // namespace bathline
