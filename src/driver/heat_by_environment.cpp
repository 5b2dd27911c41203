// The heat that each environment of an open run absorbs.
// Tested by tests/study/trajectory_test.cpp.
// Tested by tests/study/ensemble_test.cpp.
#include "driver/heat_by_environment.hpp"

namespace bathline {

namespace {

/// Why the heat cannot be divided among the environments, apart from which coordinates they damp.
std::string unsupported_reason_of(const ParticleSystem& system, const Case& this_case) {
  if (this_case.environments.empty()) return "there is no environment";
  if (system.force) return "a force of [system] absorbs some of the heat";
  if (this_case.environments.size() == 1) return "";
  if (system.damping) return "the damping is given in [system]";
  if (std::holds_alternative<ExactFlow>(this_case.scheme)) return "the exact flow computes only their sum";
  return system.lagrangian || system.contact ? "the system has a Lagrangian" : "";
}

}  // namespace

HeatByEnvironment heat_by_environment(const Experiment& experiment, const Case& this_case) {
  HeatByEnvironment heat{.unsupported_reason = unsupported_reason_of(experiment.system(), this_case)};
  if (heat.unsupported_reason.empty()) {
    const Problem closed = experiment.make_closed_problem(this_case, this_case.step);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(closed.q.size());
    for (const auto& environment : closed.environments()) {
      const bool is_alone = closed.environments().size() == 1;
      if (environment->attachment().nonlinear() != nullptr && !is_alone)
        heat.unsupported_reason = "a `couple` is not linear";
      heat.names.push_back(environment->name());
      Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(closed.q.size(), closed.q.size());
      environment->attachment().add_outer(1.0, damping);
      heat.damped_coordinates.push_back(damping.diagonal().unaryExpr([](double d) { return d != 0.0 ? 1.0 : 0.0; }));
      sum += heat.damped_coordinates.back();
    }
    if ((sum.array() > 1.0).any()) heat.unsupported_reason = "two environments damp the same particle";
  }
  if (!heat.unsupported_reason.empty()) heat.names = {"all"};
  if (heat.names.size() == 1) heat.damped_coordinates.clear();
  return heat;
}

}  // namespace bathline
