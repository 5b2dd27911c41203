// How far two computations of the same open trajectory may drift apart by round-off alone.
//
// Each branch commits errors at every step, and the step map carries them on. To first order the difference after N
// steps is sum_k Phi_k e_k with |e_k| <= d_k component by component, Phi_k being the product of the step map's
// Jacobians from step k on. By Cauchy and Schwarz its components are at most
//
//   sqrt(T P_ii),   P = sum_k Phi_k diag(d_k^2) Phi_k^T,   P_{k+1} = J_k P_k J_k^T + diag(d_k^2),
//
// where T counts the errors in the sum. The errors d_k come from counting: sums of m rounded terms are wrong by at most
// m u of the sum of their absolute values (higham2002, eq. (3.5)). Forces are taken to be evaluated backward stably, as
// those of the potentials are: wrong like the forces at positions that are wrong in the last places.
#pragma once

#include <Eigen/Dense>
#include <memory>

#include "model/particle_system.hpp"

namespace bathline {

/// The bound for the open gamma scheme (q, p) -> (q+, p+) against its forced discrete Euler-Lagrange equations.
class RoundoffBound {
 public:
  /// As for `ForcedLagrangian`.
  RoundoffBound(const ParticleSystem& system, Eigen::MatrixXd damping, double gamma, double h);

  /// Takes note of a step from (q, p) to (next, next_p); steps follow each other.
  void step(const Eigen::VectorXd& q, const Eigen::VectorXd& p, const Eigen::VectorXd& next,
            const Eigen::VectorXd& next_p);

  /// Bounds of the difference at the end of the last step, component by component, m and kg m/s.
  Eigen::VectorXd positions() const;
  Eigen::VectorXd momenta() const;
  /// Bound of p+ - p- at the beginning of the last step; at the very start there is only p-.
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
  Eigen::VectorXd transform_;   // rounding of the last step's Legendre transforms
  Eigen::VectorXd matching_;
};

}  // namespace bathline
