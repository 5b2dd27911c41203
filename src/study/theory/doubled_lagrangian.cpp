// The Lagrangian of doubled variables, differentiated automatically.
// Tested by tests/study/doubled_variables_test.cpp.
#include "study/theory/doubled_lagrangian.hpp"

#include <limits>

#include "model/natural_lagrangian.hpp"
#include "solve/dense.hpp"
#include "study/theory/autodiff.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// L(q, v, t) with its derivatives.
AutoDiff value_of(const Lagrangian& lagrangian, const AutoDiffVector& q, const AutoDiffVector& v, double t) {
  const Index n = q.size();
  VectorXd x(2 * n + 2), gradient(2 * n + 2);
  x << values(q), values(v), t, 0.0;
  lagrangian.gradient(x.data(), gradient.data());
  return {lagrangian.value(x.data()),
          apply_chain_rule(gradient.head(n), q) + apply_chain_rule(gradient.segment(n, n), v)};
}

AutoDiffVector value_of(const Force& force, const AutoDiffVector& q, const AutoDiffVector& v, double t) {
  const Index n = q.size();
  const VectorXd q_values = values(q), v_values = values(v);
  VectorXd value(n);
  MatrixXd by_q(n, n), by_v(n, n);
  force.value(q_values, v_values, t, value);
  force.jacobians(q_values, v_values, t, by_q, by_v);
  AutoDiffVector all(n);
  for (Index i = 0; i < n; ++i) {
    all[i] =
        AutoDiff(value[i], apply_chain_rule(by_q.row(i).transpose(), q) + apply_chain_rule(by_v.row(i).transpose(), v));
  }
  return all;
}

/// sum_j weights_j nodes_j.
template <class Weights>
AutoDiffVector combined(const Weights& weights, const Eigen::Matrix<AutoDiff, Eigen::Dynamic, Eigen::Dynamic>& nodes) {
  AutoDiffVector sum(nodes.rows());
  for (Index a = 0; a < nodes.rows(); ++a) {
    sum[a] = nodes(a, 0) * weights[0];
    for (Index j = 1; j < nodes.cols(); ++j) sum[a] += nodes(a, j) * weights[j];
  }
  return sum;
}

}  // namespace

DoubledLagrangian::DoubledLagrangian(const ParticleSystem& system, MatrixXd damping, GalerkinRule rule, double h)
    : lagrangian_(with_lagrangian(system).lagrangian),
      force_(system, damping),
      rule_(std::move(rule)),
      h_(h),
      forced_(system, std::move(damping), rule_, h) {}

DoubledLagrangian::Action DoubledLagrangian::action(const MatrixXd& x, const MatrixXd& y) const {
  const Index n = x.rows(), size = x.size();
  // Every coordinate of every node of both paths is an independent variable.
  Eigen::Matrix<AutoDiff, Eigen::Dynamic, Eigen::Dynamic> active_x(n, x.cols()), active_y(n, y.cols());
  for (Index i = 0; i < size; ++i) {
    active_x(i) = AutoDiff(x(i), static_cast<int>(2 * size), static_cast<int>(i));
    active_y(i) = AutoDiff(y(i), static_cast<int>(2 * size), static_cast<int>(size + i));
  }
  AutoDiff sum(0.0, VectorXd::Zero(2 * size));
  for (Index i = 0; i < rule_.weights.size(); ++i) {
    const VectorXd a = rule_.positions.row(i), b = rule_.velocities.row(i) / h_;
    const AutoDiffVector x_stage = combined(a, active_x), x_dot = combined(b, active_x);
    const AutoDiffVector y_stage = combined(a, active_y), y_dot = combined(b, active_y);
    const double t = time_ + h_ * a.dot(rule_.nodes);
    AutoDiff lagrangian = value_of(*lagrangian_, x_stage, x_dot, t);
    lagrangian -= value_of(*lagrangian_, y_stage, y_dot, t);
    const AutoDiffVector x_force = value_of(force_, x_stage, x_dot, t), y_force = value_of(force_, y_stage, y_dot, t);
    for (Index k = 0; k < n; ++k) {
      const AutoDiff mean = (x_force[k] + y_force[k]) * 0.5, difference = x_stage[k] - y_stage[k];
      lagrangian += mean * difference;
    }
    sum += lagrangian * (h_ * rule_.weights[i]);
  }
  const VectorXd& gradient = sum.derivatives();
  return {sum.value(), gradient.head(size).reshaped(n, x.cols()), gradient.tail(size).reshaped(n, y.cols())};
}

// With the mean m and the difference d of both paths, L~_d = d.G(m) + O(d^3), where G are the forced equations. The
// derivatives with respect to d and m are therefore G + O(d^2) and G'^T d + O(d^3), and Newton's method with the
// matrices G' and G'^T converges by a factor O(d^2) in each iteration: second derivatives of the force are not needed.
std::optional<DoubledLagrangian::Paths> DoubledLagrangian::stationary(const MatrixXd& x_ends,
                                                                      const MatrixXd& y_ends) const {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const Index n = x_ends.rows(), count = rule_.nodes.size(), inner = count - 2;
  MatrixXd along(2, count);
  along << (VectorXd::Ones(count) - rule_.nodes).transpose(), rule_.nodes.transpose();
  Paths paths{x_ends * along, y_ends * along};
  paths.x.col(count - 1) = x_ends.col(1);
  paths.y.col(count - 1) = y_ends.col(1);
  for (int iteration = 0; iteration < 200; ++iteration) {
    if (inner == 0) return paths;
    const Action now = action(paths.x, paths.y);
    const VectorXd by_x = now.by_x.middleCols(1, inner).reshaped(), by_y = now.by_y.middleCols(1, inner).reshaped();
    const MatrixXd mean = 0.5 * (paths.x + paths.y);
    const MatrixXd matrix = forced_.impulse_jacobian(mean).block(n, n, inner * n, inner * n);
    const VectorXd mean_update = Lu(matrix).solve(VectorXd(0.5 * (by_x - by_y)));
    const VectorXd difference_update = Lu(matrix.transpose()).solve(VectorXd(by_x + by_y));
    if (!mean_update.allFinite() || !difference_update.allFinite()) return std::nullopt;
    paths.x.middleCols(1, inner) -= (mean_update + 0.5 * difference_update).reshaped(n, inner);
    paths.y.middleCols(1, inner) -= (mean_update - 0.5 * difference_update).reshaped(n, inner);
    // The value is stationary, so that it depends on errors of the nodes only to second order.
    if (mean_update.norm() + difference_update.norm() <= 64.0 * epsilon * (paths.x.norm() + paths.y.norm()))
      return paths;
  }
  return std::nullopt;
}

}  // namespace bathline
