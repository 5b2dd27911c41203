// Bound of the difference between two computations of the same open trajectory by round-off.
//
// Each computation makes errors in every step, which the step map propagates. To first order the difference after N
// steps is sum_k Phi_k e_k with |e_k| <= d_k in every component, where Phi_k is the product of the Jacobians of the
// step map from step k on. By the Cauchy-Schwarz inequality its components are at most
//
//   sqrt(T P_ii),   P = sum_k Phi_k diag(d_k^2) Phi_k^T,   P_{k+1} = J_k P_k J_k^T + diag(d_k^2),
//
// where T is the number of errors in the sum. The bounds d_k count roundings: the error of a sum of m rounded terms is
// at most m u times the sum of their absolute values (higham2002, eq. (3.5)). Forces are assumed to be evaluated
// backward stably, as those of the potentials are: their errors are those of exact forces at positions with relative
// errors of a few u.
#pragma once

#include <Eigen/Dense>
#include <memory>

#include "model/particle_system.hpp"

namespace bathline {

/// The bound for the open gamma scheme (q, p) -> (q+, p+) against its forced discrete Euler-Lagrange equations.
class RoundoffBound {
 public:
  /// Arguments as for `ForcedLagrangian`.
  RoundoffBound(const ParticleSystem& system, Eigen::MatrixXd damping, double gamma, double h);

  /// Adds a step from (q, p) to (next, next_p); steps are consecutive.
  void step(const Eigen::VectorXd& q, const Eigen::VectorXd& p, const Eigen::VectorXd& next,
            const Eigen::VectorXd& next_p);

  /// Bounds of the components of the difference after the last step, m and kg m/s.
  Eigen::VectorXd positions() const;
  Eigen::VectorXd momenta() const;
  /// Bound of p+ - p- at the beginning of the last step, which must not be the first: the initial state has only p-.
  const Eigen::VectorXd& matching() const { return matching_; }

 private:
  Eigen::VectorXd spread() const;

  Eigen::VectorXd mass_;
  std::shared_ptr<const Potential> potential_;
  Eigen::MatrixXd damping_;
  double gamma_;
  double h_;
  double rounding_;
  double steps_ = 0.0;
  Eigen::MatrixXd covariance_;  // P
  Eigen::VectorXd transform_;   // round-off bound of the Legendre transforms of the last step
  Eigen::VectorXd matching_;
};

}  // namespace bathline
