// Detects runs whose energy errors are as large as the energy of the motion.
// Tested by tests/study/trajectory_test.cpp.
#include "driver/ledger_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/dense.hpp"

namespace bathline {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Nothing if the mass matrix of a Lagrangian is not positive definite: then kinetic energies bound nothing.
std::optional<double> kinetic_energy(const Problem& problem) {
  const ParticleSystem& system = problem.system();
  if (!system.lagrangian) return 0.5 * problem.p.cwiseAbs2().cwiseQuotient(system.mass).sum();
  const Eigen::Index n = problem.q.size();
  Eigen::VectorXd x(2 * n + 2);
  x << problem.q, problem.v, problem.clock.at(0.0), problem.z;
  Eigen::MatrixXd hessian(2 * n + 1, 2 * n + 1);
  system.lagrangian->hessian(x.data(), hessian.data());
  Eigen::MatrixXd mass = hessian.block(n, n, n, n);
  mass.diagonal() += system.mass;
  if (!is_positive_definite(mass)) return std::nullopt;
  return 0.5 * problem.v.dot(mass * problem.v);
}

}  // namespace

LedgerMonitor::LedgerMonitor(const Case& this_case, const Problem& problem)
    : case_(this_case), is_linear_(problem.system().has_linear_forces() && problem.has_linear_environments()) {
  if (!std::holds_alternative<PartitionedRungeKutta>(this_case.scheme)) return;
  for (const auto& environment : problem.environments()) {
    const EnvironmentProperties& line = environment->properties();
    if (!line.front_speed || !std::isfinite(line.damping)) continue;
    // D = sqrt(lambda M) and omega^2 = 4 lambda/M give M = 2 D/omega and lambda = D omega/2.
    const double kick = 0.5 * this_case.step * line.damping * line.highest_frequency * epsilon;
    round_off_ += static_cast<double>(line.sites) * kick * kick * line.highest_frequency / (4.0 * line.damping);
  }
}

void LedgerMonitor::record(const StateView& moment, const EnergyLedger& ledger) {
  const Problem& problem = moment.problem;
  // Kinetic energies do not bound the energy change by dL/dz.
  if (problem.system().lagrangian && problem.system().contact) return;
  const std::optional<double> kinetic = kinetic_energy(problem);
  if (!kinetic) return;
  const double environment = ledger.environment + ledger.interaction;
  if (records_ == 0.0) {
    start_ = ledger.total();
    environment_start_ = environment;
    dissipated_ = ledger.dissipated;
    work_ = ledger.work;
  }
  ++records_;
  steps_ = static_cast<double>(moment.step);
  kinetic_ = std::max(kinetic_, *kinetic);
  displacement_ = std::max(displacement_, (problem.q - problem.system().q0).norm());
  environments_ = std::max(environments_, std::abs(ledger.environment) + std::abs(ledger.interaction));
  exchanged_ += std::abs(ledger.dissipated - dissipated_) + std::abs(ledger.work - work_);
  dissipated_ = ledger.dissipated;
  work_ = ledger.work;
  // The round-off of large terms, such as a potential energy far from 0, is no error of the motion.
  const double terms = std::abs(ledger.particles) + std::abs(ledger.environment) + std::abs(ledger.interaction) +
                       std::abs(ledger.dissipated) + std::abs(ledger.work);
  double signed_change = ledger.total() - start_;
  if (std::abs(signed_change) <= 1e3 * epsilon * terms) signed_change = 0.0;
  const bool is_second_half = 2 * moment.step > case_.steps;
  const bool is_first_of_it = counts_[1] == 0.0;
  sums_[is_second_half] += signed_change;
  ++counts_[is_second_half];
  if (is_second_half) {
    least_ = is_first_of_it ? signed_change : std::min(least_, signed_change);
    largest_ = is_first_of_it ? signed_change : std::max(largest_, signed_change);
  }
  absorbed_ = std::max(absorbed_, std::abs(environment - environment_start_));
  const double change = std::abs(signed_change);
  change_ = std::max(change_, change);
  motion_ += std::max(0.0, *kinetic + exchanged_ - change);
  if (change > 0.5 * *kinetic) lasting_ = std::max(lasting_, change);
  if (!(lasting_ > energy_of_motion())) {
    lost_at_ = -1.0;
  } else if (lost_at_ < 0.0) {
    lost_at_ = moment.time;
  }
}

double LedgerMonitor::drift() const {
  // Means over fewer records may be those of other phases of an oscillation.
  constexpr double least_records = 8.0;
  const double lasting = std::max({0.0, least_, -largest_});
  if (std::min(counts_[0], counts_[1]) < least_records) return lasting;
  const double between_halves = 2.0 * std::abs(sums_[1] / counts_[1] - sums_[0] / counts_[0]);
  return std::max(lasting, std::min(change_, between_halves));
}

std::optional<std::string> LedgerMonitor::warning() const {
  const double by_round_off = 4.0 * round_off_ * steps_ * displacement_ * displacement_;
  if (change_ <= by_round_off && change_ > 1e-3 * (kinetic_ + exchanged_)) {
    return fmt::format(
        "{}: energy_total drifts by {:.3g} J, which is round-off in springs that are very stiff for the step {}; the "
        "energies of the environments are invalid, the trajectory is not",
        case_.name, change_, case_.step);
  }
  if (!is_linear_ && lost_at_ >= 0.0) {
    return fmt::format(
        "{}: energy_total drifts by {:.3g} J; from t = {:.6g} on the drift exceeds the {:.3g} J of the motion itself, "
        "so that the trajectory is invalid from there on",
        case_.name, change_, lost_at_, energy_of_motion());
  }
  constexpr double noticeable = 0.1;
  const double drift = this->drift(), exchanged = exchanged_ + absorbed_;
  const double motion = std::max(energy_of_motion(), kinetic_);
  const bool is_of_exchanged = exchanged > 0.0 && exchanged < motion;
  const double energy = is_of_exchanged ? exchanged : motion;
  if (!(drift > noticeable * energy)) return std::nullopt;
  return fmt::format(
      "{}: energy_total drifts by {:.3g} J, by errors of the steps; that is {:.3g} times the {:.3g} J {}; "
      "shorter steps or a method of higher order are more accurate",
      case_.name, drift, drift / energy, energy,
      is_of_exchanged ? "that were dissipated or exchanged" : "of the motion itself");
}

void LedgerMonitor::serialise(Archive& archive) {
  archive.numbers("seen", {&records_,  &start_,     &dissipated_,   &work_,   &exchanged_, &environment_start_,
                           &absorbed_, &kinetic_,   &environments_, &motion_, &change_,    &sums_[0],
                           &sums_[1],  &counts_[0], &counts_[1],    &least_,  &largest_,   &lasting_,
                           &lost_at_,  &steps_,     &displacement_});
}

}  // namespace bathline
