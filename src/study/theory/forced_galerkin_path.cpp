// The Lagrange-d'Alembert principle for the paths of a step: sums over stages, and Newton's method on the nodes.
// Tested by tests/study/substituting_system_test.cpp.
#include "study/theory/forced_galerkin_path.hpp"

#include "model/natural_lagrangian.hpp"
#include "solve/dense.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ForcedGalerkinPath::ForcedGalerkinPath(const ParticleSystem& system, MatrixXd damping, GalerkinRule rule, double h)
    : size_(system.size()),
      lagrangian_(with_lagrangian(system).lagrangian),
      force_(system, std::move(damping)),
      rule_(std::move(rule)),
      h_(h) {}

void ForcedGalerkinPath::evaluate(Index stage, const MatrixXd& nodes, Stage& values) const {
  values.q = nodes * rule_.positions.row(stage).transpose();
  values.v = nodes * rule_.velocities.row(stage).transpose() / h_;
  VectorXd x(2 * size_ + 2), gradient(2 * size_ + 2), nonconservative(size_);
  x << values.q, values.v, time_of(stage), 0.0;
  lagrangian_->gradient(x.data(), gradient.data());
  force_.value(values.q, values.v, time_of(stage), nonconservative);
  values.force = gradient.head(size_) + nonconservative;
  values.momentum = gradient.segment(size_, size_);
}

MatrixXd ForcedGalerkinPath::impulses(const MatrixXd& nodes) const {
  MatrixXd sum = MatrixXd::Zero(nodes.rows(), nodes.cols());
  Stage values;
  for (Index i = 0; i < rule_.weights.size(); ++i) {
    evaluate(i, nodes, values);
    sum += rule_.weights[i] * (h_ * values.force * rule_.positions.row(i) + values.momentum * rule_.velocities.row(i));
  }
  return sum;
}

MatrixXd ForcedGalerkinPath::impulse_jacobian(const MatrixXd& nodes) const {
  const Index n = nodes.rows(), count = nodes.cols();
  MatrixXd all = MatrixXd::Zero(n * count, n * count), hessian(2 * n + 1, 2 * n + 1), by_q, by_v;
  Stage stage;
  VectorXd x(2 * n + 2);
  for (Index i = 0; i < rule_.weights.size(); ++i) {
    evaluate(i, nodes, stage);
    x << stage.q, stage.v, time_of(i), 0.0;
    lagrangian_->hessian(x.data(), hessian.data());
    force_.jacobians(stage.q, stage.v, time_of(i), by_q, by_v);
    by_q += hessian.topLeftCorner(n, n);
    by_v += hessian.block(0, n, n, n);
    const double w = rule_.weights[i];
    for (Index j = 0; j < count; ++j) {
      for (Index k = 0; k < count; ++k) {
        const double a_j = rule_.positions(i, j), a_k = rule_.positions(i, k);
        const double b_j = rule_.velocities(i, j), b_k = rule_.velocities(i, k);
        auto block = all.block(j * n, k * n, n, n);
        block += (w * h_ * a_j * a_k) * by_q + (w * a_j * b_k) * by_v;
        block += (w * b_j * a_k) * hessian.block(n, 0, n, n) + (w * b_j * b_k / h_) * hessian.block(n, n, n, n);
      }
    }
  }
  return all;
}

std::optional<MatrixXd> ForcedGalerkinPath::between(const Impulses& impulses, const VectorXd& q,
                                                    const VectorXd& next) const {
  MatrixXd nodes = q * (VectorXd::Ones(rule_.nodes.size()) - rule_.nodes).transpose() + next * rule_.nodes.transpose();
  nodes.col(nodes.cols() - 1) = next;
  return solve(impulses, std::move(nodes), 1, rule_.nodes.size() - 2, 1, VectorXd::Zero(q.size()));
}

std::optional<MatrixXd> ForcedGalerkinPath::leaving(const Impulses& impulses, const VectorXd& q, const VectorXd& p,
                                                    const VectorXd& v) const {
  MatrixXd nodes = q * VectorXd::Ones(rule_.nodes.size()).transpose() + h_ * v * rule_.nodes.transpose();
  return solve(impulses, std::move(nodes), 1, rule_.nodes.size() - 1, 0, p);
}

std::optional<MatrixXd> ForcedGalerkinPath::solve(const Impulses& impulses, MatrixXd nodes, Index from, Index count,
                                                  Index first, const VectorXd& p) const {
  if (count == 0) return nodes;
  const Index n = nodes.rows();
  for (int iteration = 0; iteration < 50; ++iteration) {
    MatrixXd residual = impulses(nodes).middleCols(first, count);
    if (first == 0) residual.col(0) += p;
    const MatrixXd jacobian = impulse_jacobian(nodes).block(first * n, from * n, count * n, count * n);
    const VectorXd update = Lu(jacobian).solve(VectorXd(residual.reshaped()));
    if (!update.allFinite()) return std::nullopt;
    nodes.middleCols(from, count) -= update.reshaped(n, count);
    // The convergence is quadratic: what remains after so small a correction is round-off.
    if (update.norm() <= 1e-9 * nodes.norm()) return nodes;
  }
  return std::nullopt;
}

}  // namespace bathline
