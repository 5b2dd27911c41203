// The conservative system that takes the place of a damped linear one for one step of the time-centred scheme.
//
//   z = (q, p),  z+ = F1 z:  q+ = q + tau M^-1 (p + p+)/2,  p+ = p - tau K (q + q+)/2 - C (q+ - q)
//   K~_ii = 2 sum_j C_ij (q_j+ - q_j) / (tau (q_i + q_i+))
//   F2 is the same with K + K~ in place of K and no damping: symplectic, and F2 z = F1 z
//
// Source: luo2010, eqs. (37), (42), (51)-(59), here with masses; the factor to the left in eq. (42) has -tau/2 in its
// upper right corner, as eq. (32) demands. The same state is reached, by a map that depends on where the step begins.
#pragma once

#include <Eigen/Dense>

#include "model/particle_system.hpp"

namespace bathline {

/// q in m, p in kg m/s, n entries each; matrices of a step are square with 2n rows, q before p.
class SubstitutingSystem {
 public:
  /// `system` must be linear; `damping` is C, `tau` the step in s.
  SubstitutingSystem(const ParticleSystem& system, Eigen::MatrixXd damping, double tau);

  /// F1, and the largest entry of |F1^T J F1 - J|.
  const Eigen::MatrixXd& damped_matrix() const { return damped_matrix_; }
  double damped_defect() const { return damped_defect_; }

  /// One step of the substitute. Components whose damping force is zero need none: their K~ is 0, also at q + q+ = 0.
  /// Where there is a force and q + q+ is zero, or so small that the quotient overflows, no spring gives that force:
  /// K~ is undefined, and with it the step's F2. The same holds where no F2 solves the substitute's equations, which
  /// happens where q + tau M^-1 p / 2 vanishes instead (1 + tau^2 (K + K~)/4 = 0 with one particle).
  struct Substitute {
    Eigen::VectorXd stiffness;     ///< diagonal of K~, N/m; not finite where undefined
    int undefined = 0;             ///< how many components are
    bool is_defined = false;       ///< whether there is an F2; if not, nothing below is set
    Eigen::MatrixXd matrix;        ///< F2
    double defect = 0.0;           ///< largest entry of |F2^T J F2 - J|
    double defect_fraction = 0.0;  ///< largest part of its round-off bound that an entry reaches
    double defect_bound = 0.0;     ///< the largest bound of an entry
    Eigen::VectorXd difference;    ///< F2 z - F1 z
    Eigen::VectorXd difference_bound;
  };

  /// The damped step from (q, p): F1 z.
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
  Eigen::PartialPivLU<Eigen::MatrixXd> solver_;
  Eigen::MatrixXd damped_matrix_;
  double damped_defect_ = 0.0;
};

}  // namespace bathline
