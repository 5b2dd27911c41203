// Detects energy errors that the scheme and the step of a run do not explain.
// Tested by tests/study/trajectory_test.cpp.
#include "driver/ledger_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/gyration.hpp"

namespace bathline {

namespace {

/// A bound of the frequencies and decay rates at a state: the largest row sum of the mass-scaled matrices.
double fastest_rate(const Problem& problem, const Eigen::VectorXd& velocity) {
  const ParticleSystem& system = problem.system();
  const Eigen::VectorXd scale = system.mass.cwiseSqrt().cwiseInverse();
  const auto row_sum = [&](const Eigen::MatrixXd& matrix) {
    return (scale.asDiagonal() * matrix.cwiseAbs() * scale.asDiagonal()).rowwise().sum().maxCoeff();
  };
  Eigen::MatrixXd hessian(system.size(), system.size());
  system.potential->hessian(problem.q, hessian);
  double rate = std::sqrt(row_sum(hessian));
  if (problem.is_damped() || problem.system().applied) {
    Eigen::MatrixXd by_q, by_v;
    problem.jacobians(problem.q, velocity, problem.clock.at(0.0), by_q, by_v);
    rate = std::max({rate, std::sqrt(row_sum(by_q)), row_sum(by_v)});
  }
  return std::max(rate, cyclotron_frequency(system.magnetic_field, system.mass));
}

/// Rates at a state, in mass-scaled coordinates.
struct RateEstimate {
  double rate = 0.0;           // omega, 1/s
  double speed_squared = 0.0;  // u^2 = v.M v
  double acceleration = 0.0;   // a, the root of F.M^-1 F
};

RateEstimate rates_of_masses(const Problem& problem) {
  const Eigen::VectorXd& mass = problem.system().mass;
  const Eigen::VectorXd velocity = problem.p.cwiseQuotient(mass);
  Eigen::VectorXd gradient(velocity.size());
  problem.system().potential->gradient(problem.q, gradient);
  return {fastest_rate(problem, velocity), problem.p.dot(velocity),
          std::sqrt(gradient.cwiseAbs2().cwiseQuotient(mass).sum())};
}

/// The Hessian of a Lagrangian at a state, which contains the mass matrix.
struct LagrangianHessian {
  explicit LagrangianHessian(const Problem& problem)
      : n(problem.q.size()), matrix(2 * n + 1, 2 * n + 1), t(problem.clock.at(0.0)) {
    Eigen::VectorXd x(2 * n + 2);
    x << problem.q, problem.v, t, problem.z;
    problem.system().lagrangian->hessian(x.data(), matrix.data());
    mass_matrix = matrix.block(n, n, n, n);
    mass_matrix.diagonal() += problem.system().mass;
    root.compute(mass_matrix);
  }
  bool has_masses() const { return root.info() == Eigen::Success; }

  Eigen::Index n;
  Eigen::MatrixXd matrix, mass_matrix;
  double t;
  Eigen::LLT<Eigen::MatrixXd> root;
};

/// The same with M = d2L/dv2 and the accelerations due to L alone.
RateEstimate rates_of_lagrangian(const Problem& problem) {
  const LagrangianHessian hessian(problem);
  const Eigen::Index n = hessian.n;
  Eigen::MatrixXd by_q = Eigen::MatrixXd::Zero(n, n), by_v = by_q;
  if (problem.is_damped() || problem.system().applied) problem.jacobians(problem.q, problem.v, hessian.t, by_q, by_v);
  by_q += hessian.matrix.topLeftCorner(n, n);
  const Eigen::MatrixXd mixed = hessian.matrix.block(n, 0, n, n);
  by_v += mixed.transpose() - mixed;
  const auto row_sum = [&](const Eigen::MatrixXd& matrix) {
    const Eigen::MatrixXd half = hessian.root.matrixL().solve(matrix);
    return hessian.root.matrixL().solve(half.transpose()).cwiseAbs().rowwise().sum().maxCoeff();
  };
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(n);
  const Eigen::VectorXd a = problem.legendre()->acceleration(problem.q, problem.v, hessian.t, problem.z, none);
  return {std::max(std::sqrt(row_sum(by_q)), row_sum(by_v)), problem.v.dot(hessian.mass_matrix * problem.v),
          std::sqrt(a.dot(hessian.mass_matrix * a))};
}

/// Nothing if the mass matrix of a Lagrangian is not positive definite: then the bounds do not hold.
std::optional<double> kinetic_energy(const Problem& problem) {
  if (!problem.system().lagrangian) {
    return 0.5 * problem.p.cwiseAbs2().cwiseQuotient(problem.system().mass).sum();
  }
  const LagrangianHessian hessian(problem);
  if (!hessian.has_masses()) return std::nullopt;
  return 0.5 * problem.v.dot(hessian.mass_matrix * problem.v);
}

}  // namespace

LedgerMonitor::LedgerMonitor(const Case& this_case, const Problem& problem) : case_(this_case) {
  const MethodProperties properties = this_case.method->properties(this_case.options);
  const bool depends_on_velocity = !this_case.closed || problem.depends_on_velocity();
  order_ = depends_on_velocity && properties.order_damped > 0 ? properties.order_damped : properties.order;
  // Herglotz: the work is summed with the mean velocity of each step, to first order even if the trajectory is exact.
  if (std::holds_alternative<HerglotzScheme>(this_case.scheme)) order_ = 1;
  has_drift_ = !properties.symplectic;
  is_linear_ = problem.system().has_linear_forces() && problem.has_linear_environments();
  const double limit = properties.imaginary_axis_limit;
  limit_ = limit > 0.0 ? limit : 2.0;
  double highest = 0.0;
  for (const auto& environment : problem.environments()) {
    highest = std::max(highest, environment->properties().highest_frequency);
  }
  environment_rate_ = this_case.step * highest / limit_;
}

double LedgerMonitor::explained(double by_state) const {
  const double energy = history_.kinetic + history_.environments + history_.exchanged;
  // The exact flow has the tolerance of its reference solution.
  if (order_ == 0) return 1e-3 * energy;
  const double power = std::min(order_, 2);
  double explained = by_state + history_.drift + std::pow(history_.rate, power) * history_.exchanged;
  // The energy of the environments counts at most four times.
  const double ratio = std::min(environment_rate_, 0.9);
  explained += std::min(4.0, 2.0 * std::pow(ratio, power) / (1.0 - ratio)) * history_.environments;
  return 2.0 * explained + 1e-3 * energy;
}

LedgerMonitor::Explanation LedgerMonitor::explain(const Problem& problem) {
  const RateEstimate rates = problem.system().lagrangian ? rates_of_lagrangian(problem) : rates_of_masses(problem);
  const double h = case_.step, h_omega = h * rates.rate, ratio = h_omega / limit_;
  if (history_.steps == 0.0 && std::isfinite(h_omega)) history_.first_rate = h_omega;
  double max_h_omega = std::max(0.5 * std::min(limit_, 2.0), 1.2 * history_.first_rate);
  if (is_linear_) max_h_omega = limit_;
  if (!(h_omega <= std::min(max_h_omega, 0.95 * limit_))) return {};
  const double u = std::sqrt(rates.speed_squared), kick = h * rates.acceleration;
  const double excursion =
      order_ == 1 ? u * kick + kick * kick + h_omega * u * u : kick * kick + h_omega * h_omega * u * u;
  const Explanation explanation{.is_valid = true, .h_omega = h_omega, .excursion = excursion / (1.0 - ratio)};
  history_.state = std::max(history_.state, explanation.excursion);
  history_.rate = std::max(history_.rate, h_omega);
  return explanation;
}

void LedgerMonitor::record(const StateView& moment, const EnergyLedger& ledger) {
  const Problem& problem = moment.problem;
  // The rates below do not cover the energy change by dL/dz.
  if (problem.system().lagrangian && problem.system().contact) return;
  const std::optional<double> kinetic = kinetic_energy(problem);
  if (!kinetic) return;
  const bool is_start = history_.steps < 0.0;
  if (is_start) {
    history_.start = ledger.total();
    history_.dissipated = ledger.dissipated;
    history_.work = ledger.work;
  }
  const double steps = static_cast<double>(moment.step) - (is_start ? 0.0 : history_.steps);
  history_.steps = static_cast<double>(moment.step);
  history_.kinetic = std::max(history_.kinetic, *kinetic);
  history_.environments = std::max(history_.environments, std::abs(ledger.environment) + std::abs(ledger.interaction));
  history_.exchanged += std::abs(ledger.dissipated - history_.dissipated) + std::abs(ledger.work - history_.work);
  history_.dissipated = ledger.dissipated;
  history_.work = ledger.work;
  if (is_start || has_drift_) {
    const Explanation explanation = explain(problem);
    history_.drift += steps * std::pow(explanation.h_omega, order_ + 1) / std::tgamma(order_ + 1) * history_.kinetic;
    if (is_start) history_.first_state = explanation.excursion;
  }
  const double excursion = std::abs(ledger.total() - history_.start);
  history_.excursion = std::max(history_.excursion, excursion);
  // A linear run beyond its stability limit grows; there has been a warning before the run.
  if (history_.unexplained_at >= 0.0 || (is_linear_ && history_.first_rate > 0.95 * limit_)) return;
  if (!(excursion > explained(history_.first_state))) return;
  // The cost is quadratic in the size, so that large systems are inspected at geometrically spaced steps.
  const bool is_large = problem.q.size() > 64;
  if (is_large && history_.steps < (1.0 + 1.0 / 64.0) * history_.inspected) return;
  history_.inspected = history_.steps;
  const Explanation explanation = explain(problem);
  const double limit = explained(explanation.is_valid ? history_.first_state + explanation.excursion : history_.state);
  if (!(excursion > limit)) return;
  history_.unexplained_at = moment.time;
  history_.explained = limit;
}

std::optional<std::string> LedgerMonitor::warning() const {
  if (history_.unexplained_at < 0.0) return std::nullopt;
  return fmt::format(
      "{}: energy_total drifts by {:.3g} J; from t = {:.6g} on the drift exceeds the {:.3g} J expected of {} with step "
      "{}, so that the trajectory is invalid from there on",
      case_.label, history_.excursion, history_.unexplained_at, history_.explained, case_.method->entry.name,
      case_.step);
}

void LedgerMonitor::serialise(Archive& archive) {
  archive.numbers("seen", {&history_.steps, &history_.start, &history_.kinetic, &history_.environments,
                           &history_.exchanged, &history_.dissipated, &history_.work, &history_.state,
                           &history_.first_state, &history_.inspected, &history_.first_rate, &history_.rate,
                           &history_.drift, &history_.excursion, &history_.unexplained_at, &history_.explained});
}

}  // namespace bathline
