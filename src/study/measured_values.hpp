// Measured values of functions of the state, which are fitted or are a cost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "model/variation/cost.hpp"

namespace bathline {

/// Measured values of functions of the state.
struct MeasuredValues {
  std::vector<double> times;       ///< s, increasing
  std::vector<std::string> names;  ///< the formulas
  std::vector<CostFormula> formulas;
  Eigen::VectorXd values;   ///< of all functions at one time after the other
  Eigen::VectorXd weights;  ///< of the values: inverses of their standard deviations, perhaps up to a factor
  Eigen::Index count() const { return values.size(); }
  /// The steps of length h, s, after which the values were measured, rounded.
  std::vector<std::int64_t> steps(double h) const;
  /// Half the squares of the weighted differences at the time with an index, of formulas at these variables of costs.
  double cost(std::size_t time, const Eigen::VectorXd& variables) const;
  /// slopes += its derivatives by these variables.
  void add_gradient(std::size_t time, const Eigen::VectorXd& variables, Eigen::VectorXd& slopes) const;

 private:
  /// The weighted difference of a formula from what was measured.
  double residual(std::size_t time, std::size_t formula, const Eigen::VectorXd& variables) const;
};

/// How many steps of h a time is, s; nothing where they are no whole number within round-off.
std::optional<std::int64_t> whole_steps(double time, double h);

/// `data_file`, `observe`, `sigma` and `weights`, of which the first two may be required.
std::vector<Parameter> data_parameters(bool is_required);

/// The measured values that these keys of a section describe, with formulas in `variables`, which may have to be
/// smooth. Adds mistakes, and throws InvalidValue after them. @note Collective.
MeasuredValues read_measured_values(Section study, const Experiment& experiment, const CostVariables& variables,
                                    bool are_smooth, Mistakes& mistakes);

/// Adds a mistake, and throws InvalidValue, where a time is no whole number of steps of a case.
void refuse_times_between_steps(const MeasuredValues& data, const Section& study, const Experiment& experiment,
                                Mistakes& mistakes);

}  // namespace bathline
