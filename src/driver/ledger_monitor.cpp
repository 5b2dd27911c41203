// Detects energy errors that the scheme and the step of a run do not explain.
// Tested by tests/study/trajectory_test.cpp.
#include "driver/ledger_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/gyration.hpp"

namespace bathline {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// A bound of the frequencies and decay rates at a state: the largest row sum of the mass-scaled matrices. Without the
/// gyration in a magnetic field.
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
  return rate;
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
  const auto* splitting = std::get_if<ExplicitScheme>(&this_case.scheme);
  has_exact_gyration_ = splitting != nullptr && splitting->b.empty();
  is_linear_ = problem.system().has_linear_forces() && problem.has_linear_environments();
  const double limit = properties.imaginary_axis_limit;
  limit_ = limit > 0.0 ? limit : 2.0;
  double highest = 0.0;
  for (const auto& environment : problem.environments()) {
    const EnvironmentProperties& line = environment->properties();
    highest = std::max(highest, line.highest_frequency);
    if (!std::holds_alternative<PartitionedRungeKutta>(this_case.scheme) || !line.front_speed ||
        !std::isfinite(line.damping))
      continue;
    // D = sqrt(lambda M) and omega^2 = 4 lambda/M give M = 2 D/omega and lambda = D omega/2.
    const double kick = 0.5 * this_case.step * line.damping * line.highest_frequency * epsilon;
    round_off_ += static_cast<double>(line.sites) * kick * kick * line.highest_frequency / (4.0 * line.damping);
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
  RateEstimate rates = problem.system().lagrangian ? rates_of_lagrangian(problem) : rates_of_masses(problem);
  if (history_.steps == 0.0) {
    // Over a whole run without a restoring force, the acceleration gives the speed.
    const double slowest = std::max(rates.rate, 1.0 / std::max(case_.end, case_.step));
    history_.motion = 0.5 * (rates.speed_squared + std::pow(rates.acceleration / slowest, 2));
    history_.records = 1.0;
  }
  if (!has_exact_gyration_) {
    const ParticleSystem& system = problem.system();
    rates.rate = std::max(rates.rate, cyclotron_frequency(system.magnetic_field, system.mass));
  }
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

bool LedgerMonitor::is_round_off() const {
  return history_.excursion <= 4.0 * round_off_ * history_.steps * history_.displacement * history_.displacement;
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
  history_.displacement = std::max(history_.displacement, (problem.q - problem.system().q0).norm());
  history_.environments = std::max(history_.environments, std::abs(ledger.environment) + std::abs(ledger.interaction));
  history_.exchanged += std::abs(ledger.dissipated - history_.dissipated) + std::abs(ledger.work - history_.work);
  history_.dissipated = ledger.dissipated;
  history_.work = ledger.work;
  if (is_start || has_drift_) {
    const Explanation explanation = explain(problem);
    history_.drift += steps * std::pow(explanation.h_omega, order_ + 1) / std::tgamma(order_ + 1) * history_.kinetic;
    if (is_start) history_.first_state = explanation.excursion;
  }
  // The round-off of large terms, such as a potential energy far from 0, is no error of the motion.
  const double terms = std::abs(ledger.particles) + std::abs(ledger.environment) + std::abs(ledger.interaction) +
                       std::abs(ledger.dissipated) + std::abs(ledger.work);
  double excursion = std::abs(ledger.total() - history_.start);
  if (excursion <= 1e3 * epsilon * terms) excursion = 0.0;
  history_.excursion = std::max(history_.excursion, excursion);
  if (!is_linear_) compare_with_motion(moment.time, *kinetic, excursion);
  // A linear run beyond its stability limit grows; there has been a warning before the run.
  if (is_linear_ && history_.first_rate > 0.95 * limit_) return;
  if (history_.unexplained_at >= 0.0) return;
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

void LedgerMonitor::compare_with_motion(double time, double kinetic, double excursion) {
  history_.motion += std::max(0.0, kinetic + history_.exchanged - excursion);
  ++history_.records;
  if (excursion > 0.5 * kinetic) history_.lasting = std::max(history_.lasting, excursion);
  if (!(history_.lasting > energy_of_motion())) {
    history_.lost_at = -1.0;
  } else if (history_.lost_at < 0.0) {
    history_.lost_at = time;
  }
}

std::optional<std::string> LedgerMonitor::warning() const {
  if (history_.unexplained_at < 0.0 && history_.lost_at < 0.0) return std::nullopt;
  if (is_round_off()) {
    return fmt::format(
        "{}: energy_total drifts by {:.3g} J, which is round-off in springs that are very stiff for the step {}; the "
        "energies of the environments are invalid, the trajectory is not",
        case_.name, history_.excursion, case_.step);
  }
  if (history_.unexplained_at < 0.0) {
    return fmt::format(
        "{}: energy_total drifts by {:.3g} J; from t = {:.6g} on the drift exceeds the {:.3g} J of the motion itself, "
        "so that the trajectory is invalid from there on",
        case_.name, history_.excursion, history_.lost_at, energy_of_motion());
  }
  return fmt::format(
      "{}: energy_total drifts by {:.3g} J; from t = {:.6g} on the drift exceeds the {:.3g} J expected of {} with step "
      "{}, so that the trajectory is invalid from there on",
      case_.name, history_.excursion, history_.unexplained_at, history_.explained, case_.method->entry.name,
      case_.step);
}

void LedgerMonitor::serialise(Archive& archive) {
  archive.numbers(
      "seen",
      {&history_.steps,       &history_.start,  &history_.kinetic, &history_.environments, &history_.exchanged,
       &history_.dissipated,  &history_.work,   &history_.state,   &history_.first_state,  &history_.inspected,
       &history_.first_rate,  &history_.rate,   &history_.drift,   &history_.excursion,    &history_.unexplained_at,
       &history_.explained,   &history_.motion, &history_.records, &history_.lasting,      &history_.lost_at,
       &history_.displacement});
}

}  // namespace bathline
