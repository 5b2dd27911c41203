// What formulas of an ensemble may know of the energy ledger: work, heat, and heat by environment.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "recipe/mistakes.hpp"
#include "study/ensemble/measurements.hpp"

namespace bathline {

/// `work`, `heat`, `gain`, and `heat_<name>` of every environment with a name that formulas can have.
std::vector<std::string> ledger_names(const Recipe& recipe);

/// Adds a mistake where a formula asks for the heat of one environment of an open run in which that is not known.
void check_ledger(const Experiment& experiment, const Measurements& measurements, Mistakes& mistakes);

/// The numbers of one case, in the order of their names.
class LedgerNumbers {
 public:
  /// Nothing is looked at where no formula asks for it. @note Collective.
  LedgerNumbers(const Recipe& recipe, const Experiment& experiment, const Measurements& measurements, const Case& one);

  std::size_t size() const { return wanted_.size(); }
  bool is_requested() const;
  /// Before the stepper of a prepared problem is made. @note Collective.
  void begin(Problem& problem);
  /// In J since `begin`: work from outside, heat that environments or damping have taken, the energy that the particles
  /// have gained, and by environment the heat that it has taken. @note Collective.
  void read(Problem& problem, std::span<double> numbers) const;

 private:
  void put(Problem& problem, std::span<double> numbers) const;

  std::vector<bool> wanted_;
  bool closed_;
  std::vector<std::size_t> environments_;  // of the case, by place among the numbers; 0 where it has no name
  std::vector<Eigen::VectorXd> shares_;    // of an open run: 1 where the damping is that of the environment
  std::vector<double> start_;
};

}  // namespace bathline
