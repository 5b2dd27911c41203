// Forces of the open particles beside potential and damping matrix.
#pragma once

#include <Eigen/Dense>

namespace bathline {

/// A smooth force f(q, v) of all degrees of freedom, which may do work of either sign. Newtons, or the force unit of
/// the recipe. Implementations are pure functions.
class Force {
 public:
  virtual ~Force() = default;
  /// `force` has the size of q and of the velocities v.
  virtual void value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& force) const = 0;
  /// Derivatives of component i with respect to q_j and v_j; square with the size of q.
  virtual void slopes(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::MatrixXd& by_q,
                      Eigen::MatrixXd& by_v) const = 0;
};

}  // namespace bathline
