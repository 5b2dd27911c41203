// Whether the energy ledger of a run stays where its scheme can keep it.
// Tested by tests/study/trajectory_test.cpp.
#include "driver/ledger_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bathline {

namespace {

/// A bound of the frequencies and rates of the forces at a state: the largest sum of a row of the matrices per mass.
double fastest_rate(const Problem& problem, const Eigen::VectorXd& velocity) {
  const OpenSystem& system = problem.system();
  const Eigen::VectorXd scale = system.mass.cwiseSqrt().cwiseInverse();
  const auto row_sum = [&](const Eigen::MatrixXd& matrix) {
    return (scale.asDiagonal() * matrix.cwiseAbs() * scale.asDiagonal()).rowwise().sum().maxCoeff();
  };
  Eigen::MatrixXd hessian(system.size(), system.size());
  system.potential->hessian(problem.q, hessian);
  double rate = std::sqrt(row_sum(hessian));
  if (problem.is_damped() || problem.system().applied) {
    Eigen::MatrixXd by_q, by_v;
    problem.slopes(problem.q, velocity, problem.clock.at(0.0), by_q, by_v);
    rate = std::max({rate, std::sqrt(row_sum(by_q)), row_sum(by_v)});
  }
  return rate;
}

}  // namespace

LedgerWatch::LedgerWatch(const Case& one, const Problem& problem) : one_(one) {
  const Properties properties = one.method->properties(one.options);
  const bool feels_velocity = !one.closed || problem.feels_velocity();
  order_ = feels_velocity && properties.order_damped > 0 ? properties.order_damped : properties.order;
  // Where the path is exact and the work is not, it is summed over steps by their mean velocities.
  if (std::holds_alternative<HerglotzScheme>(one.scheme)) order_ = 1;
  drifts_ = !properties.symplectic;
  is_linear_ = problem.system().has_linear_forces() && problem.has_linear_environments();
  const double limit = properties.oscillation_limit;
  limit_ = limit > 0.0 ? limit : 2.0;
  double highest = 0.0;
  for (const auto& environment : problem.environments()) {
    highest = std::max(highest, environment->facts().highest_frequency);
  }
  environment_rate_ = one.step * highest / limit_;
}

double LedgerWatch::explained() const {
  const double energy = seen_.kinetic + seen_.environments + seen_.turned_over;
  // The exact flow is as exact as its reference solution.
  if (order_ == 0) return 1e-3 * energy;
  const double power = std::min(order_, 2);
  double explained = seen_.state + seen_.drift + std::pow(seen_.rate, power) * seen_.turned_over;
  // What an environment holds is an explanation at most four times.
  const double ratio = std::min(environment_rate_, 0.9);
  explained += std::min(4.0, 2.0 * std::pow(ratio, power) / (1.0 - ratio)) * seen_.environments;
  return 2.0 * explained + 1e-3 * energy;
}

double LedgerWatch::look_at(const Problem& problem) {
  const Eigen::VectorXd velocity = problem.p.cwiseQuotient(problem.system().mass);
  Eigen::VectorXd gradient(velocity.size());
  problem.system().potential->gradient(problem.q, gradient);
  const double h = one_.step, turning = h * fastest_rate(problem, velocity), ratio = turning / limit_;
  if (seen_.steps == 0.0) seen_.first_rate = turning;
  double end = std::max(0.5 * std::min(limit_, 2.0), 1.2 * seen_.first_rate);
  if (is_linear_) end = limit_;
  if (!(turning <= std::min(end, 0.95 * limit_))) return 0.0;
  const double u = std::sqrt(problem.p.dot(velocity));
  const double kick = h * std::sqrt(gradient.cwiseAbs2().cwiseQuotient(problem.system().mass).sum());
  const double away = order_ == 1 ? u * kick + kick * kick + turning * u * u : kick * kick + turning * turning * u * u;
  seen_.state = std::max(seen_.state, away / (1.0 - ratio));
  seen_.rate = std::max(seen_.rate, turning);
  return turning;
}

void LedgerWatch::record(const Moment& moment, const EnergyLedger& ledger) {
  const Problem& problem = moment.problem;
  // Without masses and a potential there is no bound of the rates.
  if (problem.system().lagrangian) return;
  const bool is_start = seen_.steps < 0.0;
  if (is_start) {
    seen_.start = ledger.total();
    seen_.dissipated = ledger.dissipated;
    seen_.work = ledger.work;
  }
  const double steps = static_cast<double>(moment.step) - (is_start ? 0.0 : seen_.steps);
  seen_.steps = static_cast<double>(moment.step);
  seen_.kinetic = std::max(seen_.kinetic, 0.5 * problem.p.cwiseAbs2().cwiseQuotient(problem.system().mass).sum());
  seen_.environments = std::max(seen_.environments, std::abs(ledger.environment) + std::abs(ledger.interaction));
  seen_.turned_over += std::abs(ledger.dissipated - seen_.dissipated) + std::abs(ledger.work - seen_.work);
  seen_.dissipated = ledger.dissipated;
  seen_.work = ledger.work;
  if (is_start || drifts_) seen_.drift += steps * std::pow(look_at(problem), order_ + 1) * seen_.kinetic;
  const double excursion = std::abs(ledger.total() - seen_.start);
  seen_.excursion = std::max(seen_.excursion, excursion);
  // Beyond its limit a linear run grows, of which it has been warned.
  if (seen_.lost_at >= 0.0 || (is_linear_ && seen_.first_rate > 0.95 * limit_) || !(excursion > explained())) return;
  look_at(problem);
  if (!(excursion > explained())) return;
  seen_.lost_at = moment.time;
  seen_.explained = explained();
}

std::optional<std::string> LedgerWatch::finding() const {
  if (seen_.lost_at < 0.0) return std::nullopt;
  return fmt::format(
      "{}: energy_total left its start by {:.3g} J, and from t = {:.6g} on by more than the {:.3g} J that {} with the "
      "step {} can explain; the motion is not to be trusted from there on",
      one_.label, seen_.excursion, seen_.lost_at, seen_.explained, one_.method->entry.name, one_.step);
}

void LedgerWatch::visit(Archive& archive) {
  archive.numbers("seen", {&seen_.steps, &seen_.start, &seen_.kinetic, &seen_.environments, &seen_.turned_over,
                           &seen_.dissipated, &seen_.work, &seen_.state, &seen_.first_rate, &seen_.rate, &seen_.drift,
                           &seen_.excursion, &seen_.lost_at, &seen_.explained});
}

}  // namespace bathline
