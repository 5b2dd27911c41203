// Transition matrices of damped and substituting systems, with round-off bounds.
//
// The computed solution of a linear system A x = b with N unknowns is exact for a matrix that differs from A by at most
// 3 N u |L||U| (higham2002, Theorem 9.4), and the error of a sum of m rounded terms is at most m u times the sum of
// their absolute values (eq. (3.5)). All bounds are sums of these worst cases, to first order in u.
// Tested by tests/study/substituting_system_test.cpp.
#include "study/theory/substituting_system.hpp"

#include <cmath>

#include "study/theory/roundings.hpp"

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

/// Bound of the backward error of the elimination: 3 N u P^T |L||U|.
MatrixXd backward_error(const Eigen::PartialPivLU<MatrixXd>& solver) {
  const MatrixXd& lu = solver.matrixLU();
  const MatrixXd lower = MatrixXd(lu.triangularView<Eigen::UnitLower>()).cwiseAbs();
  const MatrixXd upper = MatrixXd(lu.triangularView<Eigen::Upper>()).cwiseAbs();
  return 3.0 * static_cast<double>(lu.rows()) * unit_roundoff * (solver.permutationP().transpose() * (lower * upper));
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
  solver_.compute(left_);
  damped_matrix_ = solver_.solve(right_);
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
  return solver_.solve(right_ * z);
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
  const Eigen::PartialPivLU<MatrixXd> solver(left);
  result.matrix = solver.solve(right);
  const VectorXd conservative = solver.solve(right * z);
  const MatrixXd inverse = solver.inverse().cwiseAbs();
  result.is_defined = result.matrix.allFinite() && conservative.allFinite() && inverse.allFinite();
  if (!result.is_defined) return result;

  const double roundings = static_cast<double>(2 * n_ + 2) * unit_roundoff;
  const MatrixXd matrix_error = backward_error(solver);
  // (F + d)^T J (F + d) - J and the rounding of this product itself.
  const MatrixXd size = result.matrix.cwiseAbs(), j = canonical(n_).cwiseAbs();
  const MatrixXd error = inverse * matrix_error * size;
  const MatrixXd defect = symplectic_defect(result.matrix);
  const MatrixXd product = size.transpose() * j * error;
  const MatrixXd bound = product + product.transpose() + roundings * (size.transpose() * j * size + j);
  result.defect = defect.maxCoeff();
  result.defect_bound = bound.maxCoeff();
  result.defect_fraction = defect.cwiseQuotient(bound).maxCoeff();

  // Both states solve the equations of the substitute up to residuals: those of elimination and right-hand sides and,
  // for the momenta, the round-off of K~, whose spring force equals the damping force up to (n + 5) u of its terms.
  const VectorXd damped_size = damped.cwiseAbs(), start_size = z.cwiseAbs();
  VectorXd residual = matrix_error * conservative.cwiseAbs() + backward_error(solver_) * damped_size;
  residual += roundings * ((right.cwiseAbs() + right_.cwiseAbs()) * start_size);
  VectorXd force = static_cast<double>(n_ + 5) * unit_roundoff * (damping_.cwiseAbs() * displacement.cwiseAbs());
  const VectorXd spring = 0.5 * tau_ * (result.stiffness.cwiseAbs().cwiseProduct(twice_middle.cwiseAbs()));
  force += 3.0 * unit_roundoff * (0.5 * tau_ * (stiffness_.cwiseAbs() * twice_middle.cwiseAbs()) + spring);
  force += 2.0 * unit_roundoff *
           ((0.5 * tau_ * stiffness_.cwiseAbs() + damping_.cwiseAbs()) * (damped_size.head(n_) + start_size.head(n_)));
  residual.tail(n_) += force;
  result.difference = conservative - damped;
  result.difference_bound = inverse * residual;
  return result;
}

}  // namespace bathline
