// Whether the energy ledger of a run stays where its scheme can keep it.
// Tested by tests/study/trajectory_test.cpp.
#include "driver/ledger_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/gyration.hpp"

namespace bathline {

namespace {

/// A bound of the frequencies and rates of the forces at a state: the largest sum of a row of the matrices per mass.
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

/// How fast things are at a state: h a and u are lengths in coordinates in which masses are one.
struct RateEstimate {
  double rate = 0.0;     // 1/s
  double squared = 0.0;  // u^2 = v.M v
  double pull = 0.0;     // a, the root of F.M^-1 F
};

RateEstimate rates_of_masses(const Problem& problem) {
  const Eigen::VectorXd& mass = problem.system().mass;
  const Eigen::VectorXd velocity = problem.p.cwiseQuotient(mass);
  Eigen::VectorXd gradient(velocity.size());
  problem.system().potential->gradient(problem.q, gradient);
  return {fastest_rate(problem, velocity), problem.p.dot(velocity),
          std::sqrt(gradient.cwiseAbs2().cwiseQuotient(mass).sum())};
}

/// The second derivatives of a Lagrangian at a state, and the mass matrix among them.
struct LagrangianHessian {
  explicit LagrangianHessian(const Problem& problem)
      : n(problem.q.size()), curvatures(2 * n + 1, 2 * n + 1), t(problem.clock.at(0.0)) {
    Eigen::VectorXd x(2 * n + 2);
    x << problem.q, problem.v, t, problem.z;
    problem.system().lagrangian->hessian(x.data(), curvatures.data());
    mass_matrix = curvatures.block(n, n, n, n);
    mass_matrix.diagonal() += problem.system().mass;
    root.compute(mass_matrix);
  }
  bool has_masses() const { return root.info() == Eigen::Success; }

  Eigen::Index n;
  Eigen::MatrixXd curvatures, mass_matrix;
  double t;
  Eigen::LLT<Eigen::MatrixXd> root;
};

/// The same with M = d2L/dv2 and the accelerations that L makes by itself.
RateEstimate rates_of_lagrangian(const Problem& problem) {
  const LagrangianHessian bends(problem);
  const Eigen::Index n = bends.n;
  Eigen::MatrixXd by_q = Eigen::MatrixXd::Zero(n, n), by_v = by_q;
  if (problem.is_damped() || problem.system().applied) problem.jacobians(problem.q, problem.v, bends.t, by_q, by_v);
  by_q += bends.curvatures.topLeftCorner(n, n);
  const Eigen::MatrixXd mixed = bends.curvatures.block(n, 0, n, n);
  by_v += mixed.transpose() - mixed;
  const auto row_sum = [&](const Eigen::MatrixXd& matrix) {
    const Eigen::MatrixXd half = bends.root.matrixL().solve(matrix);
    return bends.root.matrixL().solve(half.transpose()).cwiseAbs().rowwise().sum().maxCoeff();
  };
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(n);
  const Eigen::VectorXd a = problem.legendre()->acceleration(problem.q, problem.v, bends.t, problem.z, none);
  return {std::max(std::sqrt(row_sum(by_q)), row_sum(by_v)), problem.v.dot(bends.mass_matrix * problem.v),
          std::sqrt(a.dot(bends.mass_matrix * a))};
}

/// Nothing where a Lagrangian's masses are not positive, so that none of this is a bound.
std::optional<double> kinetic_energy(const Problem& problem) {
  if (!problem.system().lagrangian) {
    return 0.5 * problem.p.cwiseAbs2().cwiseQuotient(problem.system().mass).sum();
  }
  const LagrangianHessian bends(problem);
  if (!bends.has_masses()) return std::nullopt;
  return 0.5 * problem.v.dot(bends.mass_matrix * problem.v);
}

}  // namespace

LedgerMonitor::LedgerMonitor(const Case& one, const Problem& problem) : one_(one) {
  const MethodProperties properties = one.method->properties(one.options);
  const bool depends_on_velocity = !one.closed || problem.depends_on_velocity();
  order_ = depends_on_velocity && properties.order_damped > 0 ? properties.order_damped : properties.order;
  // Where the path is exact and the work is not, it is summed over steps by their mean velocities.
  if (std::holds_alternative<HerglotzScheme>(one.scheme)) order_ = 1;
  drifts_ = !properties.symplectic;
  is_linear_ = problem.system().has_linear_forces() && problem.has_linear_environments();
  const double limit = properties.imaginary_axis_limit;
  limit_ = limit > 0.0 ? limit : 2.0;
  double highest = 0.0;
  for (const auto& environment : problem.environments()) {
    highest = std::max(highest, environment->properties().highest_frequency);
  }
  environment_rate_ = one.step * highest / limit_;
}

double LedgerMonitor::explained(double by_state) const {
  const double energy = seen_.kinetic + seen_.environments + seen_.turned_over;
  // The exact flow is as exact as its reference solution.
  if (order_ == 0) return 1e-3 * energy;
  const double power = std::min(order_, 2);
  double explained = by_state + seen_.drift + std::pow(seen_.rate, power) * seen_.turned_over;
  // What an environment holds is an explanation at most four times.
  const double ratio = std::min(environment_rate_, 0.9);
  explained += std::min(4.0, 2.0 * std::pow(ratio, power) / (1.0 - ratio)) * seen_.environments;
  return 2.0 * explained + 1e-3 * energy;
}

LedgerMonitor::Look LedgerMonitor::look_at(const Problem& problem) {
  const RateEstimate swiftness = problem.system().lagrangian ? rates_of_lagrangian(problem) : rates_of_masses(problem);
  const double h = one_.step, turning = h * swiftness.rate, ratio = turning / limit_;
  if (seen_.steps == 0.0) seen_.first_rate = turning;
  double end = std::max(0.5 * std::min(limit_, 2.0), 1.2 * seen_.first_rate);
  if (is_linear_) end = limit_;
  if (!(turning <= std::min(end, 0.95 * limit_))) return {};
  const double u = std::sqrt(swiftness.squared), kick = h * swiftness.pull;
  const double away = order_ == 1 ? u * kick + kick * kick + turning * u * u : kick * kick + turning * turning * u * u;
  const Look look{.explains = true, .turning = turning, .away = away / (1.0 - ratio)};
  seen_.state = std::max(seen_.state, look.away);
  seen_.rate = std::max(seen_.rate, turning);
  return look;
}

void LedgerMonitor::record(const StateView& moment, const EnergyLedger& ledger) {
  const Problem& problem = moment.problem;
  // What dL/dz does to an energy is none of the rates below.
  if (problem.system().lagrangian && problem.system().contact) return;
  const std::optional<double> kinetic = kinetic_energy(problem);
  if (!kinetic) return;
  const bool is_start = seen_.steps < 0.0;
  if (is_start) {
    seen_.start = ledger.total();
    seen_.dissipated = ledger.dissipated;
    seen_.work = ledger.work;
  }
  const double steps = static_cast<double>(moment.step) - (is_start ? 0.0 : seen_.steps);
  seen_.steps = static_cast<double>(moment.step);
  seen_.kinetic = std::max(seen_.kinetic, *kinetic);
  seen_.environments = std::max(seen_.environments, std::abs(ledger.environment) + std::abs(ledger.interaction));
  seen_.turned_over += std::abs(ledger.dissipated - seen_.dissipated) + std::abs(ledger.work - seen_.work);
  seen_.dissipated = ledger.dissipated;
  seen_.work = ledger.work;
  if (is_start || drifts_) {
    const Look look = look_at(problem);
    seen_.drift += steps * std::pow(look.turning, order_ + 1) / std::tgamma(order_ + 1) * seen_.kinetic;
    if (is_start) seen_.first_state = look.away;
  }
  const double excursion = std::abs(ledger.total() - seen_.start);
  seen_.excursion = std::max(seen_.excursion, excursion);
  // Beyond its limit a linear run grows, of which it has been warned.
  if (seen_.unexplained_at >= 0.0 || (is_linear_ && seen_.first_rate > 0.95 * limit_)) return;
  if (!(excursion > explained(seen_.first_state))) return;
  // A look takes the square of the size; what has been lost is found a little later as well.
  const bool is_large = problem.q.size() > 64;
  if (is_large && seen_.steps < (1.0 + 1.0 / 64.0) * seen_.looked) return;
  seen_.looked = seen_.steps;
  const Look look = look_at(problem);
  const double explanation = explained(look.explains ? seen_.first_state + look.away : seen_.state);
  if (!(excursion > explanation)) return;
  seen_.unexplained_at = moment.time;
  seen_.explained = explanation;
}

std::optional<std::string> LedgerMonitor::finding() const {
  if (seen_.unexplained_at < 0.0) return std::nullopt;
  return fmt::format(
      "{}: energy_total left its start by {:.3g} J, and from t = {:.6g} on by more than the {:.3g} J that {} with the "
      "step {} can explain; the motion is not to be trusted from there on",
      one_.label, seen_.excursion, seen_.unexplained_at, seen_.explained, one_.method->entry.name, one_.step);
}

void LedgerMonitor::serialise(Archive& archive) {
  archive.numbers(
      "seen", {&seen_.steps, &seen_.start, &seen_.kinetic, &seen_.environments, &seen_.turned_over, &seen_.dissipated,
               &seen_.work, &seen_.state, &seen_.first_state, &seen_.looked, &seen_.first_rate, &seen_.rate,
               &seen_.drift, &seen_.excursion, &seen_.unexplained_at, &seen_.explained});
}

}  // namespace bathline
