// The entries of the energy ledger in formulas of an ensemble: work, heat, and heat by environment.
//
// The heat of an environment of a closed run is its energy, that of the springs to it, and the energy it has
// dissipated; for open runs see heat_by_environment.hpp.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/ledger.hpp"

#include <fmt/format.h>

#include "driver/heat_by_environment.hpp"

namespace bathline {

namespace {

constexpr std::size_t work_index = 0, heat_index = 1, gain_index = 2, first_environment = 3;

double absorbed_energy(const EnvironmentEnergy& energy) {
  return energy.environment + energy.interaction + energy.dissipated;
}

}  // namespace

std::vector<std::string> ledger_names(const Recipe& recipe) {
  std::vector<std::string> names{"work", "heat", "gain"};
  for (const Section& environment : recipe.environments) {
    const std::string name = environment.text("name");
    if (is_name(name)) names.push_back("heat_" + name);
  }
  return names;
}

void check_ledger(const Experiment& experiment, const Measurements& measurements, Mistakes& mistakes) {
  for (const Case& this_case : experiment.cases()) {
    if (this_case.closed || this_case.environments.empty()) continue;
    bool is_requested = false;
    for (std::size_t i = first_environment; i < measurements.ledger.size(); ++i)
      is_requested = is_requested || measurements.uses(i);
    if (!is_requested) continue;
    const std::string reason = heat_by_environment(experiment, this_case).unsupported_reason;
    if (reason.empty()) continue;
    mistakes.add(this_case.options.where("on"), fmt::format("{}: the heat of a single environment is not known in this "
                                                            "open run: {}; use `heat`, the sum over all environments",
                                                            this_case.name, reason));
  }
}

LedgerNumbers::LedgerNumbers(const Recipe& recipe, const Experiment& experiment, const Measurements& measurements,
                             const Case& this_case)
    : closed_(this_case.closed) {
  for (std::size_t i = 0; i < measurements.ledger.size(); ++i) requested_.push_back(measurements.uses(i));
  std::vector<std::size_t> indices;  // by environment of the recipe
  std::size_t next = first_environment;
  for (const Section& environment : recipe.environments) {
    indices.push_back(is_name(environment.text("name")) ? next++ : 0);
  }
  bool any_requested = false;
  for (const std::size_t index : this_case.environments) {
    environments_.push_back(indices[index]);
    any_requested = any_requested || (indices[index] > 0 && requested_[indices[index]]);
  }
  if (any_requested && !closed_) damped_coordinates_ = heat_by_environment(experiment, this_case).damped_coordinates;
}

bool LedgerNumbers::is_requested() const {
  return std::find(requested_.begin(), requested_.end(), true) != requested_.end();
}

void LedgerNumbers::begin(Problem& problem) {
  if (!is_requested()) return;
  if (!damped_coordinates_.empty()) problem.heat = Eigen::VectorXd::Zero(problem.q.size());
  start_.assign(size(), 0.0);
  evaluate(problem, start_);
}

void LedgerNumbers::read(Problem& problem, std::span<double> numbers) const {
  if (!is_requested()) return;
  evaluate(problem, numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] -= start_[i];
}

void LedgerNumbers::evaluate(Problem& problem, std::span<double> numbers) const {
  const EnergyLedger ledger = problem.energies();
  std::fill(numbers.begin(), numbers.end(), 0.0);
  numbers[work_index] = ledger.work;
  numbers[heat_index] = ledger.environment + ledger.interaction + ledger.dissipated;
  numbers[gain_index] = ledger.particles;
  for (std::size_t e = 0; e < environments_.size(); ++e) {
    if (environments_[e] == 0) continue;
    double& number = numbers[environments_[e]];
    if (closed_) {
      number = absorbed_energy(ledger.environment_energies[e]);
    } else if (damped_coordinates_.empty()) {
      number = ledger.dissipated;
    } else {
      number = damped_coordinates_[e].dot(problem.heat);
    }
  }
}

}  // namespace bathline
