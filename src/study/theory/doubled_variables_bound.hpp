// Bound of the difference between an integrator and the doubled variables along a trajectory by round-off.
//
// As in study/theory/roundoff_bound.hpp, both make errors in every step, which the Jacobians J_k of the step propagate.
// The difference of a component after N steps is at most sqrt(T P_ii), P_{k+1} = J_k P_k J_k^T + diag(d_k^2), where
// d_k bounds the errors of step k and T is their total number. On the nodes of a path
// (study/theory/forced_galerkin_path.hpp), E the first equations (inner nodes and -p), z the unknown nodes:
//
//   doubled: |dz| <= |E_z^-1| 2 e,  |dp+| <= |G_last,z E_z^-1| 2 e + e_last     with e a bound of round-off and of the
//   equations' residuals integrator: R_i = P_i - p - h sum_j a^_ij F_j,  |dV| <= |R_V^-1| r,  r a bound of its
//   round-off and of Newton's residual
//
// Sums are counted as in study/theory/forced_galerkin_path.hpp. Source: higham2002, eq. (3.5), for the roundings.
#pragma once

#include <Eigen/Dense>

#include "methods/scheme.hpp"
#include "study/theory/forced_galerkin_path.hpp"

namespace bathline {

class DoubledVariablesBound {
 public:
  /// `stages` is the integrator in terms of stage velocities; its path is that of `path`.
  DoubledVariablesBound(const ForcedGalerkinPath& path, PartitionedRungeKutta stages);

  /// Adds a step along these nodes, from momentum p to next_p; steps are consecutive.
  void step(const Eigen::MatrixXd& nodes, const Eigen::VectorXd& p, const Eigen::VectorXd& next_p);

  /// Bounds of the components of the difference after the last step, m and kg m/s.
  Eigen::VectorXd positions() const;
  Eigen::VectorXd momenta() const;

 private:
  /// Errors of q+ (first column) and p+ (second column) in one step of the integrator.
  Eigen::MatrixXd integrator_errors(const Eigen::MatrixXd& nodes, const Eigen::VectorXd& p,
                                    const Eigen::VectorXd& next_p) const;
  Eigen::VectorXd spread() const;

  const ForcedGalerkinPath& path_;
  PartitionedRungeKutta stages_;
  double steps_ = 0.0;
  Eigen::MatrixXd covariance_;  // P
};

}  // namespace bathline
