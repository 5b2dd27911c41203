// The conservative system that replaces a damped linear one for one step of the time-centred scheme.
//
//   z = (q, p),  z+ = F1 z:  q+ = q + tau M^-1 (p + p+)/2,  p+ = p - tau K (q + q+)/2 - C (q+ - q)
//   K~_ii = 2 sum_j C_ij (q_j+ - q_j) / (tau (q_i + q_i+))
//   F2 is the same with K + K~ in place of K and no damping: symplectic, and F2 z = F1 z
//
// Source: luo2010, eqs. (37), (42), (51)-(59), here with masses; the left factor in eq. (42) has -tau/2 in its
// upper right corner, as required by eq. (32). Both lead to the same state, but F2 depends on the initial state of the
// step.
#pragma once

#include <Eigen/Dense>

#include "model/particle_system.hpp"

namespace bathline {

/// q in m, p in kg m/s, n entries each; matrices of a step are square with 2n rows, q before p.
class SubstitutingSystem {
 public:
  /// `system` must be linear; `damping` is C, `tau` is the step in s.
  SubstitutingSystem(const ParticleSystem& system, Eigen::MatrixXd damping, double tau);

  /// F1, and the largest entry of |F1^T J F1 - J|.
  const Eigen::MatrixXd& damped_matrix() const { return damped_matrix_; }
  double damped_defect() const { return damped_defect_; }

  /// One step of the substitute. Where the damping force is zero, K~ is 0, even if q + q+ = 0. Where it is not, and q +
  /// q+ is zero or so small that the quotient overflows, no spring has this force: K~ is undefined, and with it F2. The
  /// equations of the substitute have no solution F2 either if q + tau M^-1 p / 2 vanishes instead (for one particle
  /// 1 + tau^2 (K + K~)/4 = 0).
  struct Substitute {
    Eigen::VectorXd stiffness;   ///< diagonal of K~, N/m; not finite where undefined
    int undefined = 0;           ///< number of undefined components
    bool is_defined = false;     ///< whether there is an F2; if not, nothing below is set
    Eigen::MatrixXd matrix;      ///< F2
    double defect = 0.0;         ///< largest entry of |F2^T J F2 - J|
    Eigen::VectorXd difference;  ///< F2 z - F1 z
  };

  /// The state after the damped step from (q, p): F1 z.
  Eigen::VectorXd damped_step(const Eigen::VectorXd& q, const Eigen::VectorXd& p) const;
  /// The substitute of that step.
  Substitute substitute(const Eigen::VectorXd& q, const Eigen::VectorXd& p) const;

 private:
  /// (1 upper; lower 1) with a diagonal upper block.
  Eigen::MatrixXd block(const Eigen::VectorXd& upper, const Eigen::MatrixXd& lower) const;

  Eigen::Index n_;
  double tau_;
  Eigen::VectorXd half_drift_;  // tau M^-1 / 2
  Eigen::MatrixXd stiffness_, damping_;
  Eigen::MatrixXd left_, right_;  // left_ F1 = right_
  Eigen::MatrixXd damped_matrix_;
  double damped_defect_ = 0.0;
};

}  // namespace bathline
