// How far an integrator and the doubled variables may drift apart along a trajectory by round-off alone.
//
// As in study/theory/roundoff_bound.hpp: both commit errors at every step, and the Jacobians J_k of the step carry them
// on. The difference of a component after N steps is at most sqrt(T P_ii), P_{k+1} = J_k P_k J_k^T + diag(d_k^2), where
// d_k bounds the errors of step k, T of them in all. On the nodes of a path (study/theory/forced_galerkin_path.hpp), E
// the first equations (inner nodes and -p), z the unknown nodes:
//
//   doubled: |dz| <= |E_z^-1| 2 e,  |dp+| <= |G_last,z E_z^-1| 2 e + e_last     with e bounding round-off and what is
//                                                                               left of the equations
//   integrator: R_i = P_i - p - h sum_j a^_ij F_j,  |dV| <= |R_V^-1| r,  r its round-off and what Newton leaves
//
// Sums are counted as in study/theory/forced_galerkin_path.hpp. Source: higham2002, eq. (3.5), for the roundings.
#pragma once

#include <Eigen/Dense>

#include "methods/scheme.hpp"
#include "study/theory/forced_galerkin_path.hpp"

namespace bathline {

class DoubledVariablesBound {
 public:
  /// `stages` is the integrator in terms of stage velocities, its path being that of `path`.
  DoubledVariablesBound(const ForcedGalerkinPath& path, PartitionedRungeKutta stages);

  /// Takes note of a step along these nodes, with momentum p at the begin and next_p at the end; steps follow each
  /// other.
  void step(const Eigen::MatrixXd& nodes, const Eigen::VectorXd& p, const Eigen::VectorXd& next_p);

  /// Bounds of the difference at the end of the last step, component by component, m and kg m/s.
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
