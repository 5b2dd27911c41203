// The Lagrange-d'Alembert principle on the paths of a step: sums over stages, and Newton's method on the nodes.
// Tested by tests/study/substitution_test.cpp.
#include "study/theory/forced_path.hpp"

#include <limits>

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double unit = 0.5 * std::numeric_limits<double>::epsilon();
/// Roundings of a term besides those of the sums: the dozen of a force, weights, masses and steps.
constexpr double roundings = 16.0;

}  // namespace

ForcedPath::ForcedPath(const OpenSystem& system, MatrixXd damping, PathRule rule, double h)
    : mass_(system.mass),
      potential_(system.potential),
      force_(system.force),
      damping_(std::move(damping)),
      rule_(std::move(rule)),
      h_(h),
      // Sums over degrees of freedom in the forces, over nodes in the stages' values and over stages in the end.
      rounding_((roundings + static_cast<double>(mass_.size() + rule_.positions.rows() + rule_.positions.cols())) *
                unit) {}

VectorXd ForcedPath::force(const VectorXd& q, const VectorXd& v) const {
  VectorXd gradient(q.size());
  potential_->gradient(q, gradient);
  VectorXd sum = -gradient - damping_ * v;
  if (!force_) return sum;
  VectorXd drive(q.size());
  force_->value(q, v, 0.0, drive);
  return sum + drive;
}

MatrixXd ForcedPath::impulses(const MatrixXd& nodes) const {
  MatrixXd sum = MatrixXd::Zero(nodes.rows(), nodes.cols());
  for (Index i = 0; i < rule_.weights.size(); ++i) {
    const VectorXd q = nodes * rule_.positions.row(i).transpose();
    const VectorXd v = nodes * rule_.velocities.row(i).transpose() / h_;
    sum += rule_.weights[i] *
           (h_ * force(q, v) * rule_.positions.row(i) + mass_.cwiseProduct(v) * rule_.velocities.row(i));
  }
  return sum;
}

std::vector<ForcedPath::Stage> ForcedPath::stages(const MatrixXd& nodes) const {
  const Index n = nodes.rows();
  std::vector<Stage> all;
  VectorXd gradient(n), drive = VectorXd::Zero(n);
  MatrixXd hessian(n, n), by_q = MatrixXd::Zero(n, n), by_v = MatrixXd::Zero(n, n);
  for (Index i = 0; i < rule_.weights.size(); ++i) {
    Stage stage;
    stage.q = nodes * rule_.positions.row(i).transpose();
    stage.v = nodes * rule_.velocities.row(i).transpose() / h_;
    const VectorXd q_size = nodes.cwiseAbs() * rule_.positions.row(i).transpose().cwiseAbs();
    const VectorXd v_size = nodes.cwiseAbs() * rule_.velocities.row(i).transpose().cwiseAbs() / h_;
    potential_->gradient(stage.q, gradient);
    potential_->hessian(stage.q, hessian);
    if (force_) {
      force_->value(stage.q, stage.v, 0.0, drive);
      force_->slopes(stage.q, stage.v, 0.0, by_q, by_v);
    }
    stage.force = force(stage.q, stage.v);
    stage.by_q = by_q - hessian;
    stage.by_v = by_v - damping_;
    stage.force_size = gradient.cwiseAbs() + drive.cwiseAbs() + (hessian.cwiseAbs() + by_q.cwiseAbs()) * q_size +
                       (damping_.cwiseAbs() + by_v.cwiseAbs()) * v_size;
    stage.impulse_size = mass_.cwiseProduct(v_size);
    all.push_back(std::move(stage));
  }
  return all;
}

MatrixXd ForcedPath::slopes(const MatrixXd& nodes) const {
  const Index n = nodes.rows(), count = nodes.cols();
  MatrixXd all = MatrixXd::Zero(n * count, n * count);
  const std::vector<Stage> at = stages(nodes);
  for (std::size_t stage = 0; stage < at.size(); ++stage) {
    const Index i = static_cast<Index>(stage);
    const double w = rule_.weights[i];
    for (Index j = 0; j < count; ++j) {
      for (Index k = 0; k < count; ++k) {
        const double a_j = rule_.positions(i, j), a_k = rule_.positions(i, k);
        const double b_j = rule_.velocities(i, j), b_k = rule_.velocities(i, k);
        auto block = all.block(j * n, k * n, n, n);
        block += (w * h_ * a_j * a_k) * at[stage].by_q + (w * a_j * b_k) * at[stage].by_v;
        block.diagonal() += (w * b_j * b_k / h_) * mass_;
      }
    }
  }
  return all;
}

MatrixXd ForcedPath::roundoff(const MatrixXd& nodes) const {
  MatrixXd sum = MatrixXd::Zero(nodes.rows(), nodes.cols());
  const std::vector<Stage> at = stages(nodes);
  for (std::size_t stage = 0; stage < at.size(); ++stage) {
    const Index i = static_cast<Index>(stage);
    sum += rule_.weights[i] * (h_ * at[stage].force_size * rule_.positions.row(i).cwiseAbs() +
                               at[stage].impulse_size * rule_.velocities.row(i).cwiseAbs());
  }
  return rounding_ * sum;
}

std::optional<MatrixXd> ForcedPath::between(const Impulses& impulses, const VectorXd& q, const VectorXd& next) const {
  MatrixXd nodes = q * (VectorXd::Ones(rule_.nodes.size()) - rule_.nodes).transpose() + next * rule_.nodes.transpose();
  nodes.col(nodes.cols() - 1) = next;
  return solve(impulses, std::move(nodes), 1, rule_.nodes.size() - 2, 1, VectorXd::Zero(q.size()));
}

std::optional<MatrixXd> ForcedPath::leaving(const Impulses& impulses, const VectorXd& q, const VectorXd& p) const {
  MatrixXd nodes =
      q * VectorXd::Ones(rule_.nodes.size()).transpose() + h_ * p.cwiseQuotient(mass_) * rule_.nodes.transpose();
  return solve(impulses, std::move(nodes), 1, rule_.nodes.size() - 1, 0, p);
}

std::optional<MatrixXd> ForcedPath::solve(const Impulses& impulses, MatrixXd nodes, Index from, Index count,
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
    // The equations are solved when what is left of them cannot be told from round-off, which is counted generously:
    // the correction that belongs to it is worth making.
    const bool is_solved = (residual.array().abs() <= allowed.array()).all();
    const MatrixXd jacobian = slopes(nodes).block(first * n, from * n, count * n, count * n);
    const VectorXd update = jacobian.partialPivLu().solve(residual.reshaped());
    nodes.middleCols(from, count) -= update.reshaped(n, count);
    if (is_solved) return nodes;
  }
  return std::nullopt;
}

MatrixXd ForcedPath::end_roundoff(const MatrixXd& nodes) const {
  const Index n = nodes.rows(), last = nodes.cols() - 1, inner = (last - 1) * n;
  const MatrixXd own = roundoff(nodes);
  MatrixXd ends(n, 2);
  // Of both formulas.
  ends << 2.0 * own.col(0), 2.0 * own.col(last);
  if (inner == 0) return ends;
  // What is left of the inner equations, and their round-off, moves the inner nodes and with them the ends' impulses.
  const MatrixXd all = slopes(nodes);
  const Eigen::PartialPivLU<MatrixXd> solver(all.block(n, n, inner, inner));
  const VectorXd wrong = 4.0 * own.middleCols(1, last - 1).reshaped();
  const MatrixXd inverse = solver.inverse();
  ends.col(0) += (all.block(0, n, n, inner) * inverse).cwiseAbs() * wrong;
  ends.col(1) += (all.block(last * n, n, n, inner) * inverse).cwiseAbs() * wrong;
  return ends;
}

}  // namespace bathline
