// The stage equations with automatic differentiation.
// Tested by tests/study/contact_form_test.cpp.
#include "study/theory/contact_step.hpp"

#include <limits>

#include "solve/dense.hpp"
#include "study/theory/autodiff.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// L and its derivatives with respect to q, v and z at a stage.
struct StageLagrangian {
  AutoDiff value;
  std::vector<AutoDiff> gradient;
};

StageLagrangian stage_lagrangian(const Lagrangian& lagrangian, const std::vector<AutoDiff>& q,
                                 const std::vector<AutoDiff>& v, const AutoDiff& z, double t) {
  const auto n = static_cast<Index>(q.size());
  AutoDiffVector arguments(2 * n + 1);
  for (Index i = 0; i < n; ++i) {
    arguments[i] = q[static_cast<std::size_t>(i)];
    arguments[n + i] = v[static_cast<std::size_t>(i)];
  }
  arguments[2 * n] = z;
  VectorXd x(2 * n + 2), gradient(2 * n + 2);
  x << values(arguments).head(2 * n), t, z.value();
  MatrixXd hessian(2 * n + 1, 2 * n + 1);
  lagrangian.gradient(x.data(), gradient.data());
  lagrangian.hessian(x.data(), hessian.data());
  gradient[2 * n] = gradient[2 * n + 1];  // the derivative by z follows, since time is not a variable
  StageLagrangian result{AutoDiff(lagrangian.value(x.data()), apply_chain_rule(gradient.head(2 * n + 1), arguments)),
                         {}};
  for (Index i = 0; i <= 2 * n; ++i)
    result.gradient.emplace_back(gradient[i], apply_chain_rule(hessian.col(i), arguments));
  return result;
}

/// Residuals of the equations of a step, and its final state. The independent variables are the unknowns V, Z and l,
/// followed by the state q, p and z.
struct Step {
  std::vector<AutoDiff> residual, q;
  AutoDiff z, weight;
};

Step step_of(const PartitionedRungeKutta& scheme, const Lagrangian& lagrangian, double h, const ParticleState& from,
             const VectorXd& unknowns) {
  const Index s = scheme.stages(), n = from.q.size(), all = unknowns.size() + 2 * n + 1;
  const auto index = [](Index i) { return static_cast<std::size_t>(i); };
  const auto unknown = [&](Index i) { return AutoDiff(unknowns[i], static_cast<int>(all), static_cast<int>(i)); };
  const auto state = [&](double value, Index i) {
    return AutoDiff(value, static_cast<int>(all), static_cast<int>(unknowns.size() + i));
  };
  Step step;
  std::vector<AutoDiff> p;
  for (Index k = 0; k < n; ++k) step.q.push_back(state(from.q[k], k));
  for (Index k = 0; k < n; ++k) p.push_back(state(from.p[k], n + k));
  const std::vector<AutoDiff> q = step.q;
  const AutoDiff z = state(from.z, 2 * n), unit(1.0, VectorXd::Zero(all));
  step.z = z;
  step.weight = unit;
  std::vector<AutoDiff> actions, weights;
  std::vector<std::vector<AutoDiff>> velocities(index(s));
  for (Index i = 0; i < s; ++i) {
    for (Index k = 0; k < n; ++k) velocities[index(i)].push_back(unknown(i * n + k));
    actions.push_back(unknown(n * s + i));
    weights.push_back(unknown(n * s + s + i));
  }
  std::vector<StageLagrangian> stages;
  for (Index i = 0; i < s; ++i) {
    std::vector<AutoDiff> stage_q = q;
    for (Index j = 0; j < s; ++j) {
      for (Index k = 0; k < n; ++k) stage_q[index(k)] += velocities[index(j)][index(k)] * (h * scheme.a(i, j));
    }
    stages.push_back(
        stage_lagrangian(lagrangian, stage_q, velocities[index(i)], actions[index(i)], from.t + h * scheme.nodes()[i]));
  }
  std::vector<AutoDiff> action_residuals, weight_residuals;
  for (Index i = 0; i < s; ++i) {
    AutoDiff action = actions[index(i)] - z, weight = weights[index(i)] - unit;
    for (Index j = 0; j < s; ++j) {
      const double a = scheme.freezes_action ? 0.0 : scheme.a(i, j);
      const double a_hat = scheme.freezes_action ? scheme.b[j] : scheme.a_hat(i, j);
      action -= stages[index(j)].value * (h * a);
      weight += stages[index(j)].gradient[index(2 * n)] * weights[index(j)] * (h * a_hat);
    }
    for (Index k = 0; k < n; ++k) {
      AutoDiff momentum = weights[index(i)] * stages[index(i)].gradient[index(n + k)] - p[index(k)];
      for (Index j = 0; j < s; ++j) {
        momentum -= weights[index(j)] * stages[index(j)].gradient[index(k)] * (h * scheme.a_hat(i, j));
      }
      step.residual.push_back(momentum);
      step.q[index(k)] += velocities[index(i)][index(k)] * (h * scheme.b[i]);
    }
    action_residuals.push_back(action);
    weight_residuals.push_back(weight);
    step.z += stages[index(i)].value * (h * scheme.b[i]);
    step.weight -= stages[index(i)].gradient[index(2 * n)] * weights[index(i)] * (h * scheme.b[i]);
  }
  step.residual.insert(step.residual.end(), action_residuals.begin(), action_residuals.end());
  step.residual.insert(step.residual.end(), weight_residuals.begin(), weight_residuals.end());
  return step;
}

}  // namespace

ContactStep::ContactStep(PartitionedRungeKutta scheme, std::shared_ptr<const Lagrangian> lagrangian, double h)
    : scheme_(std::move(scheme)), lagrangian_(std::move(lagrangian)), h_(h) {}

std::optional<ContactFormStep> ContactStep::form(const ParticleState& from, const ParticleState& to) const {
  const Index s = scheme_.stages(), n = from.q.size(), count = (n + 2) * s, variables = 2 * n + 1;
  VectorXd unknowns(count), residual(count);
  unknowns << from.v.replicate(s, 1), VectorXd::Constant(s, from.z), VectorXd::Ones(s);
  MatrixXd jacobian(count, count + variables);
  double previous_size = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 50; ++iteration) {
    const Step step = step_of(scheme_, *lagrangian_, h_, from, unknowns);
    for (Index i = 0; i < count; ++i) {
      residual[i] = step.residual[static_cast<std::size_t>(i)].value();
      jacobian.row(i) = step.residual[static_cast<std::size_t>(i)].derivatives();
    }
    const Lu solver(jacobian.leftCols(count));
    const VectorXd correction = solver.solve(residual);
    const double size = correction.norm();
    if (!std::isfinite(size)) return std::nullopt;
    if (size > 1e-14 * unknowns.norm() && (size < 0.5 * previous_size || size > 1e-11 * unknowns.norm())) {
      unknowns -= correction;
      previous_size = size;
      continue;
    }
    // Newton's method has converged: the derivatives are those of the step.
    const MatrixXd by_state = -solver.solve(MatrixXd(jacobian.rightCols(variables)));
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
