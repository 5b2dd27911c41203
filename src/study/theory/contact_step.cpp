// The equations of the stages in numbers that carry their derivatives.
// Tested by tests/study/contact_form_test.cpp.
#include "study/theory/contact_step.hpp"

#include <limits>

#include "study/theory/autodiff.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// L and its slopes by q, v and z at a stage.
struct Leaf {
  AutoDiff value;
  std::vector<AutoDiff> slopes;
};

Leaf leaf_at(const Lagrangian& lagrangian, const std::vector<AutoDiff>& q, const std::vector<AutoDiff>& v,
             const AutoDiff& z, double t) {
  const auto n = static_cast<Index>(q.size());
  AutoDiffVector arguments(2 * n + 1);
  for (Index i = 0; i < n; ++i) {
    arguments[i] = q[static_cast<std::size_t>(i)];
    arguments[n + i] = v[static_cast<std::size_t>(i)];
  }
  arguments[2 * n] = z;
  VectorXd x(2 * n + 2), slopes(2 * n + 2);
  x << values(arguments).head(2 * n), t, z.value();
  MatrixXd curvatures(2 * n + 1, 2 * n + 1);
  lagrangian.gradient(x.data(), slopes.data());
  lagrangian.hessian(x.data(), curvatures.data());
  slopes[2 * n] = slopes[2 * n + 1];  // by z, where time is none of the variables
  Leaf leaf{AutoDiff(lagrangian.value(x.data()), apply_chain_rule(slopes.head(2 * n + 1), arguments)), {}};
  for (Index i = 0; i <= 2 * n; ++i)
    leaf.slopes.emplace_back(slopes[i], apply_chain_rule(curvatures.col(i), arguments));
  return leaf;
}

/// What the unknowns leave of the equations of a step, and where it leads: variables are all unknowns, V, Z and l, and
/// the state, q, p and z.
struct Step {
  std::vector<AutoDiff> residual, q;
  AutoDiff z, weight;
};

Step step_of(const PartitionedRungeKutta& scheme, const Lagrangian& lagrangian, double h, const ContactPoint& from,
             const VectorXd& unknowns) {
  const Index s = scheme.stages(), n = from.q.size(), all = unknowns.size() + 2 * n + 1;
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  const auto unknown = [&](Index i) { return AutoDiff(unknowns[i], static_cast<int>(all), static_cast<int>(i)); };
  const auto state = [&](double value, Index i) {
    return AutoDiff(value, static_cast<int>(all), static_cast<int>(unknowns.size() + i));
  };
  Step step;
  std::vector<AutoDiff> p;
  for (Index k = 0; k < n; ++k) step.q.push_back(state(from.q[k], k));
  for (Index k = 0; k < n; ++k) p.push_back(state(from.p[k], n + k));
  const std::vector<AutoDiff> q = step.q;
  const AutoDiff z = state(from.z, 2 * n), one(1.0, VectorXd::Zero(all));
  step.z = z;
  step.weight = one;
  std::vector<AutoDiff> actions, weights;
  std::vector<std::vector<AutoDiff>> velocities(at(s));
  for (Index i = 0; i < s; ++i) {
    for (Index k = 0; k < n; ++k) velocities[at(i)].push_back(unknown(i * n + k));
    actions.push_back(unknown(n * s + i));
    weights.push_back(unknown(n * s + s + i));
  }
  std::vector<Leaf> leaves;
  for (Index i = 0; i < s; ++i) {
    std::vector<AutoDiff> place = q;
    for (Index j = 0; j < s; ++j) {
      for (Index k = 0; k < n; ++k) place[at(k)] += velocities[at(j)][at(k)] * (h * scheme.a(i, j));
    }
    leaves.push_back(leaf_at(lagrangian, place, velocities[at(i)], actions[at(i)], from.t + h * scheme.nodes()[i]));
  }
  std::vector<AutoDiff> of_actions, of_weights;
  for (Index i = 0; i < s; ++i) {
    AutoDiff action = actions[at(i)] - z, weight = weights[at(i)] - one;
    for (Index j = 0; j < s; ++j) {
      const double a = scheme.freezes_action ? 0.0 : scheme.a(i, j);
      const double a_hat = scheme.freezes_action ? scheme.b[j] : scheme.a_hat(i, j);
      action -= leaves[at(j)].value * (h * a);
      weight += leaves[at(j)].slopes[at(2 * n)] * weights[at(j)] * (h * a_hat);
    }
    for (Index k = 0; k < n; ++k) {
      AutoDiff momentum = weights[at(i)] * leaves[at(i)].slopes[at(n + k)] - p[at(k)];
      for (Index j = 0; j < s; ++j) {
        momentum -= weights[at(j)] * leaves[at(j)].slopes[at(k)] * (h * scheme.a_hat(i, j));
      }
      step.residual.push_back(momentum);
      step.q[at(k)] += velocities[at(i)][at(k)] * (h * scheme.b[i]);
    }
    of_actions.push_back(action);
    of_weights.push_back(weight);
    step.z += leaves[at(i)].value * (h * scheme.b[i]);
    step.weight -= leaves[at(i)].slopes[at(2 * n)] * weights[at(i)] * (h * scheme.b[i]);
  }
  step.residual.insert(step.residual.end(), of_actions.begin(), of_actions.end());
  step.residual.insert(step.residual.end(), of_weights.begin(), of_weights.end());
  return step;
}

}  // namespace

ContactStep::ContactStep(PartitionedRungeKutta scheme, std::shared_ptr<const Lagrangian> lagrangian, double h)
    : scheme_(std::move(scheme)), lagrangian_(std::move(lagrangian)), h_(h) {}

std::optional<ContactFormStep> ContactStep::form(const ContactPoint& from, const ContactPoint& to) const {
  const Index s = scheme_.stages(), n = from.q.size(), count = (n + 2) * s, variables = 2 * n + 1;
  VectorXd unknowns(count), residual(count);
  unknowns << from.v.replicate(s, 1), VectorXd::Constant(s, from.z), VectorXd::Ones(s);
  MatrixXd slopes(count, count + variables);
  double last = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 50; ++iteration) {
    const Step step = step_of(scheme_, *lagrangian_, h_, from, unknowns);
    for (Index i = 0; i < count; ++i) {
      residual[i] = step.residual[static_cast<std::size_t>(i)].value();
      slopes.row(i) = step.residual[static_cast<std::size_t>(i)].derivatives();
    }
    const Eigen::PartialPivLU<MatrixXd> solver(slopes.leftCols(count));
    const VectorXd correction = solver.solve(residual);
    const double size = correction.norm();
    if (!std::isfinite(size)) return std::nullopt;
    if (size > 1e-14 * unknowns.norm() && (size < 0.5 * last || size > 1e-11 * unknowns.norm())) {
      unknowns -= correction;
      last = size;
      continue;
    }
    // Nothing is left to correct: the derivatives are those of the step.
    const MatrixXd by_state = -solver.solve(slopes.rightCols(variables));
    const auto total = [&](const AutoDiff& value) -> Eigen::RowVectorXd {
      const VectorXd& all = value.derivatives();
      return all.tail(variables).transpose() + all.head(count).transpose() * by_state;
    };
    const double factor = 1.0 / step.weight.value();
    Eigen::RowVectorXd form = total(step.z);
    for (Index k = 0; k < n; ++k) {
      form -= to.p[k] * total(step.q[static_cast<std::size_t>(k)]);
      form[k] += factor * from.p[k];
    }
    form[2 * n] -= factor;
    return ContactFormStep{factor, form.cwiseAbs().maxCoeff()};
  }
  return std::nullopt;
}

}  // namespace bathline
