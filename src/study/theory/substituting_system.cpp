// Transition matrices of damped and substituting systems.
// Tested by tests/study/substituting_system_test.cpp.
#include "study/theory/substituting_system.hpp"

#include <cmath>

#include "solve/dense.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

MatrixXd canonical(Index n) {
  MatrixXd j = MatrixXd::Zero(2 * n, 2 * n);
  j.topRightCorner(n, n).setIdentity();
  j.bottomLeftCorner(n, n) = -MatrixXd::Identity(n, n);
  return j;
}

MatrixXd symplectic_defect(const MatrixXd& matrix) {
  const MatrixXd j = canonical(matrix.rows() / 2);
  return (matrix.transpose() * j * matrix - j).cwiseAbs();
}

}  // namespace

SubstitutingSystem::SubstitutingSystem(const ParticleSystem& system, MatrixXd damping, double tau)
    : n_(system.size()),
      tau_(tau),
      half_drift_(0.5 * tau * system.mass.cwiseInverse()),
      stiffness_(n_, n_),
      damping_(std::move(damping)) {
  system.potential->hessian(system.q0, stiffness_);
  left_ = block(-half_drift_, 0.5 * tau_ * stiffness_ + damping_);
  right_ = block(half_drift_, -0.5 * tau_ * stiffness_ + damping_);
  damped_matrix_ = Lu(left_).solve(right_);
  damped_defect_ = symplectic_defect(damped_matrix_).maxCoeff();
}

MatrixXd SubstitutingSystem::block(const VectorXd& upper, const MatrixXd& lower) const {
  MatrixXd matrix = MatrixXd::Identity(2 * n_, 2 * n_);
  matrix.topRightCorner(n_, n_).diagonal() = upper;
  matrix.bottomLeftCorner(n_, n_) = lower;
  return matrix;
}

VectorXd SubstitutingSystem::damped_step(const VectorXd& q, const VectorXd& p) const {
  VectorXd z(2 * n_);
  z << q, p;
  return Lu(left_).solve(VectorXd(right_ * z));
}

SubstitutingSystem::Substitute SubstitutingSystem::substitute(const VectorXd& q, const VectorXd& p) const {
  VectorXd z(2 * n_);
  z << q, p;
  const VectorXd damped = damped_step(q, p);
  const VectorXd displacement = damped.head(n_) - q, twice_middle = q + damped.head(n_);

  Substitute result;
  result.stiffness = VectorXd::Zero(n_);
  const VectorXd impulse = damping_ * displacement;
  for (Index i = 0; i < n_; ++i) {
    if (impulse[i] != 0.0) result.stiffness[i] = 2.0 * impulse[i] / (tau_ * twice_middle[i]);
    if (!std::isfinite(result.stiffness[i])) ++result.undefined;
  }
  if (result.undefined > 0) return result;

  // Both factors contain the same rounded matrix, so that F2 is symplectic for any error of it.
  MatrixXd half_kick = 0.5 * tau_ * stiffness_;
  half_kick.diagonal() += 0.5 * tau_ * result.stiffness;
  const MatrixXd left = block(-half_drift_, half_kick), right = block(half_drift_, -half_kick);
  if (!left.allFinite()) return result;
  const Lu solver(left);
  result.matrix = solver.solve(right);
  const VectorXd conservative = solver.solve(VectorXd(right * z));
  result.is_defined = result.matrix.allFinite() && conservative.allFinite();
  if (!result.is_defined) return result;
  result.defect = symplectic_defect(result.matrix).maxCoeff();
  result.difference = conservative - damped;
  return result;
}

}  // namespace bathline
