// The entries of the energy ledger in formulas of an ensemble: work, heat, and heat by environment.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "recipe/mistakes.hpp"
#include "study/ensemble/measurements.hpp"

namespace bathline {

/// `work`, `heat`, `gain`, and `heat_<name>` for every environment whose name is an identifier.
std::vector<std::string> ledger_names(const Recipe& recipe);

/// Adds a mistake where a formula uses the heat of one environment of an open run in which that is not known.
void check_ledger(const Experiment& experiment, const Measurements& measurements, Mistakes& mistakes);

/// The ledger entries of a case, in the order of their names.
class LedgerNumbers {
 public:
  /// Evaluates only what a formula uses. @note Collective.
  LedgerNumbers(const Recipe& recipe, const Experiment& experiment, const Measurements& measurements,
                const Case& this_case);

  std::size_t size() const { return requested_.size(); }
  bool is_requested() const;
  /// To be called before the stepper of a prepared problem is made. @note Collective.
  void begin(Problem& problem);
  /// In J since `begin`: work of external forces, heat absorbed by environments or damping, energy gained by the
  /// particles, and the heat absorbed by each environment. @note Collective.
  void read(Problem& problem, std::span<double> numbers) const;

 private:
  void evaluate(Problem& problem, std::span<double> numbers) const;

  std::vector<bool> requested_;
  bool closed_;
  std::vector<std::size_t> environments_;  // index of the heat of each environment of the case; 0 where it has no name
  std::vector<Eigen::VectorXd> damped_coordinates_;  // of open runs: 1 for coordinates that the environment damps
  std::vector<double> start_;
};

}  // namespace bathline
