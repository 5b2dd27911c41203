// Bounds of the round-off of an integrator and of the doubled variables, propagated by the Jacobian of the step.
// Tested by tests/study/doubled_variables_test.cpp.
#include "study/theory/doubled_variables_bound.hpp"

#include <cmath>

#include "study/theory/roundings.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

DoubledVariablesBound::DoubledVariablesBound(const ForcedGalerkinPath& path, PartitionedRungeKutta stages)
    : path_(path), stages_(std::move(stages)), covariance_(MatrixXd::Zero(2 * path.size(), 2 * path.size())) {}

MatrixXd DoubledVariablesBound::integrator_errors(const MatrixXd& nodes, const VectorXd& p,
                                                  const VectorXd& next_p) const {
  const Index n = nodes.rows(), count = stages_.b.size();
  const double h = path_.step(), rounding = path_.rounding();
  const std::vector<ForcedGalerkinPath::Stage> stages = path_.stages(nodes);
  const auto stage = [&](Index i) -> const ForcedGalerkinPath::Stage& { return stages[static_cast<std::size_t>(i)]; };
  // Derivatives of the forces with respect to the stage velocities, and the Jacobian of the residual R.
  MatrixXd force_jacobian = MatrixXd::Zero(n * count, n * count), jacobian = force_jacobian;
  VectorXd residual(n * count), force_sizes(n * count), guess = VectorXd::Zero(n * count);
  for (Index i = 0; i < count; ++i) {
    force_jacobian.block(i * n, i * n, n, n) += stage(i).by_v;
    for (Index j = 0; j < count; ++j) force_jacobian.block(i * n, j * n, n, n) += h * stages_.a(i, j) * stage(i).by_q;
    force_sizes.segment(i * n, n) = stage(i).force_size;
  }
  for (Index i = 0; i < count; ++i) {
    residual.segment(i * n, n) = p.cwiseAbs() + stage(i).impulse_size;
    for (Index j = 0; j < count; ++j) {
      jacobian.block(i * n, j * n, n, n) += h * stages_.a(i, j) * stage(i).momentum_by_q;
      const double weight = h * stages_.a_hat(i, j);
      jacobian.middleRows(i * n, n) -= weight * force_jacobian.middleRows(j * n, n);
      residual.segment(i * n, n) += std::abs(weight) * stage(j).force_size;
      // Newton's method begins at V = p/m, with the impulse of the forces as residual.
      guess.segment(i * n, n) += std::abs(weight) * stage(j).force_size;
    }
    jacobian.block(i * n, i * n, n, n) += stage(i).momentum_by_v;
  }
  residual *= rounding;
  const double scale = std::sqrt(static_cast<double>(count)) * p.norm() + h * force_sizes.norm();
  residual.array() += newton_roundoff * scale + newton_relative * guess.norm();
  const VectorXd in_v = jacobian.inverse().cwiseAbs() * residual;
  const VectorXd in_force = force_jacobian.cwiseAbs() * in_v;

  MatrixXd errors(n, 2);
  errors << rounding * nodes.rightCols(1).cwiseAbs(), rounding * (p.cwiseAbs() + next_p.cwiseAbs());
  for (Index i = 0; i < count; ++i) {
    const double weight = h * stages_.b[i];
    errors.col(0) += weight * (rounding * stage(i).v.cwiseAbs() + in_v.segment(i * n, n));
    errors.col(1) += weight * (rounding * stage(i).force_size + in_force.segment(i * n, n));
  }
  // One-stage schemes compute p+ from the momentum of the stage, whose error is the residual of its equation.
  errors.col(1) += residual.reshaped(n, count).rowwise().maxCoeff();
  return errors;
}

void DoubledVariablesBound::step(const MatrixXd& nodes, const VectorXd& p, const VectorXd& next_p) {
  const Index n = nodes.rows(), unknown = nodes.size() - n;
  const MatrixXd all = path_.impulse_jacobian(nodes), roundoff = path_.roundoff(nodes);
  const MatrixXd inverse = all.topRightCorner(unknown, unknown).inverse();
  const MatrixXd last = all.bottomRightCorner(n, unknown) * inverse;
  // E(q, z) + p = 0 and p+ = G_last(q, z).
  MatrixXd by_state = MatrixXd::Zero(unknown, 2 * n);
  by_state.leftCols(n) = all.topLeftCorner(unknown, n);
  by_state.topRightCorner(n, n).setIdentity();
  MatrixXd jacobian(2 * n, 2 * n);
  jacobian.topRows(n) = -inverse.bottomRows(n) * by_state;
  jacobian.bottomRows(n) = -last * by_state;
  jacobian.bottomLeftCorner(n, n) += all.bottomLeftCorner(n, n);

  VectorXd residual_bound = 2.0 * roundoff.leftCols(roundoff.cols() - 1).reshaped();
  residual_bound.head(n) += 2.0 * path_.rounding() * p.cwiseAbs();
  MatrixXd errors = integrator_errors(nodes, p, next_p);
  errors.col(0) += inverse.bottomRows(n).cwiseAbs() * residual_bound;
  errors.col(1) += last.cwiseAbs() * residual_bound + roundoff.rightCols(1);
  covariance_ = (jacobian * covariance_ * jacobian.transpose()).eval();
  covariance_.diagonal() += errors.reshaped().cwiseAbs2();
  steps_ += 1.0;
}

VectorXd DoubledVariablesBound::spread() const {
  const double errors = 2.0 * static_cast<double>(path_.size()) * steps_;
  return (errors * covariance_.diagonal()).cwiseSqrt();
}

VectorXd DoubledVariablesBound::positions() const { return spread().head(path_.size()); }

VectorXd DoubledVariablesBound::momenta() const { return spread().tail(path_.size()); }

}  // namespace bathline
