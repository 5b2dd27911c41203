// What formulas of an ensemble may know of the energy ledger: work, heat, and heat by environment.
//
// An environment of a closed run has taken what it and the springs to it hold, and what it has lost for good; for open
// runs see heat_by_environment.hpp.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/ledger.hpp"

#include <fmt/format.h>

#include "driver/heat_by_environment.hpp"

namespace bathline {

namespace {

constexpr std::size_t of_work = 0, of_heat = 1, of_gain = 2, first_environment = 3;

double held(const EnvironmentEnergy& energy) { return energy.environment + energy.interaction + energy.dissipated; }

}  // namespace

std::vector<std::string> ledger_names(const Recipe& recipe) {
  std::vector<std::string> names{"work", "heat", "gain"};
  for (const Section& environment : recipe.environments) {
    const std::string name = environment.is_readable("name") ? environment.text("name") : "";
    if (is_name(name)) names.push_back("heat_" + name);
  }
  return names;
}

void check_ledger(const Experiment& experiment, const Measurements& measurements, Mistakes& mistakes) {
  for (const Case& one : experiment.cases()) {
    if (one.closed || one.environments.empty()) continue;
    bool asks = false;
    for (std::size_t i = first_environment; i < measurements.ledger.size(); ++i) asks = asks || measurements.uses(i);
    if (!asks) continue;
    const std::string why = heat_by_environment(experiment, one).unsupported_reason;
    if (why.empty()) continue;
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
  if (any && !closed_) shares_ = heat_by_environment(experiment, one).damped_coordinates;
}

bool LedgerNumbers::is_requested() const { return std::find(wanted_.begin(), wanted_.end(), true) != wanted_.end(); }

void LedgerNumbers::begin(Problem& problem) {
  if (!is_requested()) return;
  if (!shares_.empty()) problem.heat = Eigen::VectorXd::Zero(problem.q.size());
  start_.assign(size(), 0.0);
  put(problem, start_);
}

void LedgerNumbers::read(Problem& problem, std::span<double> numbers) const {
  if (!is_requested()) return;
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
      number = held(ledger.environment_energies[e]);
    } else if (shares_.empty()) {
      number = ledger.dissipated;
    } else {
      number = shares_[e].dot(problem.heat);
    }
  }
}

}  // namespace bathline
