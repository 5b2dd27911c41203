// The Lagrange-d'Alembert principle for the paths of a step: sums over stages, and Newton's method on the nodes.
// Tested by tests/study/substituting_system_test.cpp.
#include "study/theory/forced_galerkin_path.hpp"

#include "model/natural_lagrangian.hpp"
#include "study/theory/roundings.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ForcedGalerkinPath::ForcedGalerkinPath(const ParticleSystem& system, MatrixXd damping, GalerkinRule rule, double h)
    : size_(system.size()),
      lagrangian_(with_lagrangian(system).lagrangian),
      force_(system, damping),
      damping_(std::move(damping)),
      rule_(std::move(rule)),
      h_(h),
      // Number of terms in the sums over degrees of freedom (forces), nodes (stage values) and stages.
      rounding_((roundings_of_a_term + static_cast<double>(size_ + rule_.positions.rows() + rule_.positions.cols())) *
                unit_roundoff) {}

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

void ForcedGalerkinPath::linearise(Index stage, const MatrixXd& nodes, Stage& values) const {
  const Index n = size_;
  const VectorXd q_size = nodes.cwiseAbs() * rule_.positions.row(stage).transpose().cwiseAbs();
  const VectorXd v_size = nodes.cwiseAbs() * rule_.velocities.row(stage).transpose().cwiseAbs() / h_;
  VectorXd x(2 * n + 2), nonconservative(n);
  MatrixXd hessian(2 * n + 1, 2 * n + 1);
  x << values.q, values.v, time_of(stage), 0.0;
  values.value = lagrangian_->value(x.data());
  lagrangian_->hessian(x.data(), hessian.data());
  force_.value(values.q, values.v, time_of(stage), nonconservative);
  force_.jacobians(values.q, values.v, time_of(stage), values.by_q, values.by_v);
  const MatrixXd by_q = hessian.topLeftCorner(n, n), by_v = hessian.block(0, n, n, n);
  values.momentum_by_q = hessian.block(n, 0, n, n);
  values.momentum_by_v = hessian.block(n, n, n, n);
  values.stiffness = by_q.cwiseAbs();
  const VectorXd drag = damping_ * values.v, conservative = values.force - nonconservative;
  values.force_size = conservative.cwiseAbs() + (nonconservative + drag).cwiseAbs() +
                      (values.stiffness + values.by_q.cwiseAbs()) * q_size +
                      (by_v.cwiseAbs() + damping_.cwiseAbs() + (values.by_v + damping_).cwiseAbs()) * v_size;
  values.impulse_size = values.momentum_by_v.cwiseAbs() * v_size + values.momentum_by_q.cwiseAbs() * q_size;
  values.by_q += by_q;
  values.by_v += by_v;
}

std::vector<ForcedGalerkinPath::Stage> ForcedGalerkinPath::stages(const MatrixXd& nodes) const {
  std::vector<Stage> all;
  for (Index i = 0; i < rule_.weights.size(); ++i) {
    evaluate(i, nodes, all.emplace_back());
    linearise(i, nodes, all.back());
  }
  return all;
}

MatrixXd ForcedGalerkinPath::impulse_jacobian(const MatrixXd& nodes) const {
  const Index n = nodes.rows(), count = nodes.cols();
  MatrixXd all = MatrixXd::Zero(n * count, n * count);
  const std::vector<Stage> stages_of_path = stages(nodes);
  for (std::size_t stage = 0; stage < stages_of_path.size(); ++stage) {
    const Index i = static_cast<Index>(stage);
    const double w = rule_.weights[i];
    for (Index j = 0; j < count; ++j) {
      for (Index k = 0; k < count; ++k) {
        const double a_j = rule_.positions(i, j), a_k = rule_.positions(i, k);
        const double b_j = rule_.velocities(i, j), b_k = rule_.velocities(i, k);
        auto block = all.block(j * n, k * n, n, n);
        block += (w * h_ * a_j * a_k) * stages_of_path[stage].by_q + (w * a_j * b_k) * stages_of_path[stage].by_v;
        block += (w * b_j * a_k) * stages_of_path[stage].momentum_by_q +
                 (w * b_j * b_k / h_) * stages_of_path[stage].momentum_by_v;
      }
    }
  }
  return all;
}

MatrixXd ForcedGalerkinPath::roundoff(const MatrixXd& nodes) const {
  MatrixXd sum = MatrixXd::Zero(nodes.rows(), nodes.cols());
  const std::vector<Stage> stages_of_path = stages(nodes);
  for (std::size_t stage = 0; stage < stages_of_path.size(); ++stage) {
    const Index i = static_cast<Index>(stage);
    sum += rule_.weights[i] * (h_ * stages_of_path[stage].force_size * rule_.positions.row(i).cwiseAbs() +
                               stages_of_path[stage].impulse_size * rule_.velocities.row(i).cwiseAbs());
  }
  return rounding_ * sum;
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
    MatrixXd allowed = roundoff(nodes).middleCols(first, count);
    if (first == 0) {
      residual.col(0) += p;
      allowed.col(0) += rounding_ * p.cwiseAbs();
    }
    if (!residual.allFinite()) return std::nullopt;
    // The residual is at the level of its round-off bound, which is generous, so that the last correction is still
    // applied.
    const bool is_solved = (residual.array().abs() <= allowed.array()).all();
    const MatrixXd jacobian = impulse_jacobian(nodes).block(first * n, from * n, count * n, count * n);
    const VectorXd update = jacobian.partialPivLu().solve(residual.reshaped());
    nodes.middleCols(from, count) -= update.reshaped(n, count);
    if (is_solved) return nodes;
  }
  return std::nullopt;
}

MatrixXd ForcedGalerkinPath::end_roundoff(const MatrixXd& nodes) const {
  const Index n = nodes.rows(), last = nodes.cols() - 1, inner = (last - 1) * n;
  const MatrixXd roundoff_of_nodes = roundoff(nodes);
  MatrixXd ends(n, 2);
  // The round-off of both formulas.
  ends << 2.0 * roundoff_of_nodes.col(0), 2.0 * roundoff_of_nodes.col(last);
  if (inner == 0) return ends;
  // Residuals and round-off of the inner equations displace the inner nodes, and thereby the impulses at the ends.
  const MatrixXd all = impulse_jacobian(nodes);
  const Eigen::PartialPivLU<MatrixXd> solver(all.block(n, n, inner, inner));
  const VectorXd residual_bound = 4.0 * roundoff_of_nodes.middleCols(1, last - 1).reshaped();
  const MatrixXd inverse = solver.inverse();
  ends.col(0) += (all.block(0, n, n, inner) * inverse).cwiseAbs() * residual_bound;
  ends.col(1) += (all.block(last * n, n, n, inner) * inverse).cwiseAbs() * residual_bound;
  return ends;
}

}  // namespace bathline
