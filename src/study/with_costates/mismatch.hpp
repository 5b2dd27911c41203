// Half the weighted sum of squared differences from measured values, as part of a cost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "study/fit/from_recipe.hpp"

namespace bathline {

/// sum_i ((f(q, v, t_i) - data_i)/sigma)^2/2 over the times and the formulas f of a table.
class Mismatch {
 public:
  /// That of `data_file`, `observe` and `sigma` or `weights` in the section of a study, which must have `data_file`;
  /// nothing, and a mistake, where it is invalid or a time is no whole number of steps of a case.
  /// @note Collective.
  static std::optional<Mismatch> read(const Section& study, const CostVariables& variables,
                                      const Experiment& experiment, Mistakes& mistakes);

  /// The steps of length h, s, after which the values were measured.
  std::vector<std::int64_t> steps(double h) const;
  /// The part of the time with an index, at the variables of costs there.
  double value(std::size_t time, const Eigen::VectorXd& variables) const;
  /// slopes += its derivatives by these variables.
  void add_gradient(std::size_t time, const Eigen::VectorXd& variables, Eigen::VectorXd& slopes) const;

 private:
  FitData data_;
};

}  // namespace bathline
