// Forces on the particles beside those of the potential and the damping matrix.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/Dense>

namespace bathline {

/// A smooth force f(q, v, t) on all degrees of freedom, which may do work of either sign. Newtons, or the force unit of
/// the recipe. Implementations are pure functions.
class Force {
 public:
  virtual ~Force() = default;
  /// `force` gets the size of q and of the velocities v.
  virtual void value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::VectorXd& force) const = 0;
  /// Derivatives of component i with respect to q_j and v_j; square with the size of q.
  virtual void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                         Eigen::MatrixXd& by_v) const = 0;
  /// Whether the force depends on the velocities; if not, kicks are explicit.
  virtual bool depends_on_velocity() const { return true; }
};

/// A smooth force f(t) on every degree of freedom, in newtons.
class Drive {
 public:
  virtual ~Drive() = default;
  virtual void value(double t, Eigen::VectorXd& force) const = 0;
  /// df/dt, N/s.
  virtual void rate(double t, Eigen::VectorXd& rate) const = 0;
};

}  // namespace bathline
