// What formulas of an ensemble may know of the energy ledger: work, heat, and heat by environment.
//
// An environment of a closed run has taken what it and the springs to it hold, and what it has lost for good. In an
// open run all dampers and all noise are one; where no two environments damp the same particle, what each particle
// gives says what each of them has taken. Source: sekimoto2010, section 4.1.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/ledger.hpp"

#include <fmt/format.h>

namespace bathline {

namespace {

constexpr std::size_t of_work = 0, of_heat = 1, of_gain = 2, first_environment = 3;

double held(const EnvironmentEnergy& energy) { return energy.environment + energy.interaction + energy.dissipated; }

/// By environment of a case the degrees of freedom that it damps.
std::vector<Eigen::VectorXd> damped_by(const Experiment& experiment, const Case& one) {
  std::vector<Eigen::VectorXd> all;
  const Problem closed = experiment.make_problem(one, one.step, true);
  for (const auto& environment : closed.environments()) {
    Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(closed.q.size(), closed.q.size());
    environment->attachment().add_outer(1.0, damping);
    all.push_back(damping.diagonal().unaryExpr([](double d) { return d != 0.0 ? 1.0 : 0.0; }));
  }
  return all;
}

}  // namespace

std::vector<std::string> ledger_names(const Recipe& recipe) {
  std::vector<std::string> names{"work", "heat", "gain"};
  for (const Section& environment : recipe.environments) {
    const std::string name = environment.is_readable("name") ? environment.text("name") : "";
    if (is_name(name)) names.push_back("heat_" + name);
  }
  return names;
}

void check_ledger(const Recipe& recipe, const Experiment& experiment, const Measurements& measurements,
                  Mistakes& mistakes) {
  for (const Case& one : experiment.cases()) {
    if (one.closed || one.environments.size() < 2) continue;
    bool asks = false;
    for (std::size_t i = first_environment; i < measurements.ledger.size(); ++i) asks = asks || measurements.uses(i);
    if (!asks) continue;
    const std::vector<Eigen::VectorXd> damped = damped_by(experiment, one);
    bool overlap = false;
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(experiment.system().size());
    for (const Eigen::VectorXd& by_one : damped) sum += by_one;
    overlap = (sum.array() > 1.0).any();
    const char* why = experiment.system().damping                     ? "[system] states a damping of its own"
                      : overlap                                       ? "two of them damp the same particle"
                      : std::holds_alternative<ExactFlow>(one.scheme) ? "the exact flow knows their sum alone"
                      : experiment.system().lagrangian || experiment.system().contact
                          ? "there is a Lagrangian of its own"
                          : nullptr;
    if (why == nullptr) continue;
    mistakes.add(one.options.where("on"),
                 fmt::format("{}: which environment takes which heat is not known in this open run: {}; `heat` is that "
                             "of all of them",
                             one.label, why));
  }
}

LedgerNumbers::LedgerNumbers(const Recipe& recipe, const Experiment& experiment, const Measurements& measurements,
                             const Case& one)
    : closed_(one.closed) {
  for (std::size_t i = 0; i < measurements.ledger.size(); ++i) wanted_.push_back(measurements.uses(i));
  std::vector<std::size_t> places;  // by environment of the recipe
  std::size_t next = first_environment;
  for (const Section& environment : recipe.environments) {
    places.push_back(is_name(environment.text("name")) ? next++ : 0);
  }
  bool any = false;
  for (const std::size_t index : one.environments) {
    environments_.push_back(places[index]);
    any = any || (places[index] > 0 && wanted_[places[index]]);
  }
  if (any && !closed_ && one.environments.size() > 1) shares_ = damped_by(experiment, one);
}

bool LedgerNumbers::is_wanted() const { return std::find(wanted_.begin(), wanted_.end(), true) != wanted_.end(); }

void LedgerNumbers::begin(Problem& problem) {
  if (!is_wanted()) return;
  if (!shares_.empty()) problem.heat = Eigen::VectorXd::Zero(problem.q.size());
  start_.assign(size(), 0.0);
  put(problem, start_);
}

void LedgerNumbers::read(Problem& problem, std::span<double> numbers) const {
  if (!is_wanted()) return;
  put(problem, numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] -= start_[i];
}

void LedgerNumbers::put(Problem& problem, std::span<double> numbers) const {
  const EnergyLedger ledger = problem.energies();
  std::fill(numbers.begin(), numbers.end(), 0.0);
  numbers[of_work] = ledger.work;
  numbers[of_heat] = ledger.environment + ledger.interaction + ledger.dissipated;
  numbers[of_gain] = ledger.particles;
  for (std::size_t e = 0; e < environments_.size(); ++e) {
    if (environments_[e] == 0) continue;
    double& number = numbers[environments_[e]];
    if (closed_) {
      number = held(ledger.of_environments[e]);
    } else if (shares_.empty()) {
      number = ledger.dissipated;
    } else {
      number = shares_[e].dot(problem.heat);
    }
  }
}

}  // namespace bathline
