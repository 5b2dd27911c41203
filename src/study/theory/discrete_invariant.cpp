// Quadratic invariants of splittings on linear closed systems.
// Tested by tests/study/energy_test.cpp.
#include "study/theory/discrete_invariant.hpp"

#include <limits>
#include <stdexcept>

namespace bathline {

std::optional<DiscreteInvariant::Form> DiscreteInvariant::form_of(const Scheme& scheme) {
  const auto* explicit_scheme = std::get_if<ExplicitScheme>(&scheme);
  if (explicit_scheme == nullptr) return std::nullopt;
  std::vector<std::pair<Substep::Kind, double>> parts;
  for (const Substep& substep : explicit_scheme->merged().substeps) parts.emplace_back(substep.kind, substep.weight);
  using enum Substep::Kind;
  using Parts = std::vector<std::pair<Substep::Kind, double>>;
  if (parts == Parts{{drift, 1.0}, {kick, 1.0}}) return Form::drift_kick;
  if (parts == Parts{{kick, 1.0}, {drift, 1.0}}) return Form::kick_drift;
  if (parts == Parts{{kick, 0.5}, {drift, 1.0}, {kick, 0.5}}) return Form::kick_drift_kick;
  if (parts == Parts{{drift, 0.5}, {kick, 1.0}, {drift, 0.5}}) return Form::drift_kick_drift;
  return std::nullopt;
}

bool DiscreteInvariant::is_known(const Scheme& scheme, const Problem& problem) {
  if (!form_of(scheme) || !problem.system().is_linear() || problem.is_damped()) return false;
  if (problem.system().magnetic_field != 0.0) return false;
  for (const auto& environment : problem.environments()) {
    const EnvironmentProperties& properties = environment->properties();
    if (properties.loses_energy || !properties.is_linear || properties.sites == 0) return false;
  }
  return true;
}

DiscreteInvariant::DiscreteInvariant(const Scheme& scheme, const Problem& problem, double h)
    : problem_(problem), system_(problem, std::numeric_limits<std::int64_t>::max()), h_(h) {
  if (!is_known(scheme, problem)) throw std::logic_error("no invariant of this scheme is known");
  form_ = *form_of(scheme);
}

double DiscreteInvariant::value(double energy) const {
  const Eigen::VectorXd displacement = problem_.q - problem_.system().q0;
  std::vector<double> u(displacement.begin(), displacement.end()), p(problem_.p.begin(), problem_.p.end());
  for (const auto& environment : problem_.environments()) {
    std::vector<double> site_w, site_p;
    environment->gather_state(site_w, site_p);
    u.insert(u.end(), site_w.begin(), site_w.end());
    p.insert(p.end(), site_p.begin(), site_p.end());
  }
  if (!problem_.communicator().is_root()) return energy;
  const auto size = static_cast<Eigen::Index>(u.size());
  const Eigen::VectorXd velocity = Eigen::Map<const Eigen::VectorXd>(p.data(), size).cwiseQuotient(system_.mass());
  const auto force_at = [&](std::span<const double> position) {
    Eigen::VectorXd force(size);
    system_.force(position, {force.data(), u.size()});
    return force;
  };
  switch (form_) {
    case Form::drift_kick:
      return energy - 0.5 * h_ * velocity.dot(force_at(u));
    case Form::kick_drift:
      return energy + 0.5 * h_ * velocity.dot(force_at(u));
    case Form::kick_drift_kick: {
      const Eigen::VectorXd force = force_at(u);
      return energy - 0.125 * h_ * h_ * force.dot(force.cwiseQuotient(system_.mass()));
    }
    case Form::drift_kick_drift: {
      const std::vector<double> start(u.size(), 0.0);
      const Eigen::VectorXd stiffness_times_velocity = force_at(start) - force_at({velocity.data(), u.size()});
      return energy - 0.125 * h_ * h_ * velocity.dot(stiffness_times_velocity);
    }
  }
  return energy;
}

}  // namespace bathline
