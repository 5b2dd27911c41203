// Which environment of an open run takes which heat.
// Tested by tests/study/trajectory_test.cpp.
// Tested by tests/study/ensemble_test.cpp.
#include "driver/heat_by_environment.hpp"

namespace bathline {

namespace {

/// Why it is not known which environment takes which heat, but for what they damp.
std::string unsupported_reason_of(const ParticleSystem& system, const Case& one) {
  if (one.environments.empty()) return "there is no environment";
  if (system.force) return "[system] states a force that takes some of it";
  if (one.environments.size() == 1) return "";
  if (system.damping) return "[system] states a damping of its own";
  if (std::holds_alternative<ExactFlow>(one.scheme)) return "the exact flow knows their sum alone";
  return system.lagrangian || system.contact ? "there is a Lagrangian of its own" : "";
}

}  // namespace

HeatByEnvironment heat_by_environment(const Experiment& experiment, const Case& one) {
  HeatByEnvironment shares{.unsupported_reason = unsupported_reason_of(experiment.system(), one)};
  if (shares.unsupported_reason.empty()) {
    const Problem closed = experiment.make_closed_problem(one, one.step);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(closed.q.size());
    for (const auto& environment : closed.environments()) {
      shares.names.push_back(environment->name());
      Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(closed.q.size(), closed.q.size());
      environment->attachment().add_outer(1.0, damping);
      shares.of_environments.push_back(damping.diagonal().unaryExpr([](double d) { return d != 0.0 ? 1.0 : 0.0; }));
      sum += shares.of_environments.back();
    }
    if ((sum.array() > 1.0).any()) shares.unsupported_reason = "two of them damp the same particle";
  }
  if (!shares.unsupported_reason.empty()) shares.names = {"all"};
  if (shares.names.size() == 1) shares.of_environments.clear();
  return shares;
}

}  // namespace bathline
