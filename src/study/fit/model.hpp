// What a fit compares: measured values, and those that a run of the recipe has with other numbers in it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "model/variation/cost.hpp"
#include "recipe/number_at.hpp"
#include "steppers/transposed/tangent_run.hpp"

namespace bathline {

/// A parameter of a fit: a number that the recipe has at one place or several.
struct FitParameter {
  std::string name;
  std::vector<NumberAt> places;
  double start = 0.0;
  double scale = 1.0;  ///< its size where it is not larger, for differences
  double lower, upper;
};

/// Measured values of functions of the state.
struct FitData {
  std::vector<double> times;       ///< s, increasing
  std::vector<std::string> names;  ///< the formulas
  std::vector<CostFormula> formulas;
  Eigen::VectorXd weights;  ///< of one value each: the inverse of its standard deviation, perhaps up to a factor
  Eigen::VectorXd values;   ///< of all functions at one time after the other
  Eigen::Index count() const { return values.size(); }
  double weight_at(Eigen::Index i) const { return weights[i % weights.size()]; }
  /// The weighted difference of a formula's value from that measured at the time with an index.
  double residual(std::size_t time, std::size_t formula, double value) const {
    const auto index = static_cast<Eigen::Index>(formula);
    return weights[index] * (value - values[static_cast<Eigen::Index>(time) * weights.size() + index]);
  }
};

/// How many steps of h a time is, s; nothing where they are no whole number within round-off.
std::optional<std::int64_t> whole_steps(double time, double h);

/// Weighted values (not differences from those measured) and their derivatives by the parameters.
struct Prediction {
  Eigen::VectorXd values;
  Eigen::MatrixXd slopes;
};

/// The values of one case of an experiment as a function of the parameters.
///
/// Slopes are tangents (steppers/transposed/tangent_run). Where these are not supported, and between two steps, where
/// the path is Hermite's polynomial (driver/quintic_hermite), slopes are central differences over 2 d, d = (3
/// eps)^(1/3) of a parameter: their errors d^2/6 and eps/d, in units of its size, are then equal, 1e-11; one-sided ones
/// of second order at a bound. What changes on the path is known exactly for parameters of smooth formulas of the
/// system, and by differences for others.
class FitModel {
 public:
  /// `program` and `data` must outlive it. Steps are those of the case, divided by `refinement`; `recipe` has the texts
  /// of its files. @note Collective.
  FitModel(Recipe recipe, const Program& program, const Case& this_case, const FitData& data,
           std::vector<FitParameter> parameters, int refinement);

  const std::vector<FitParameter>& parameters() const { return parameters_; }
  /// Of a prediction.
  std::int64_t steps() const;
  bool has_tangents() const { return has_tangents_; }
  /// The same on every rank; nothing where a run fails or its values are not finite. @note Collective.
  std::optional<Prediction> predict(const Eigen::VectorXd& x) const {
    return has_tangents_ ? predict_by_tangents(x) : predict_by_differences(x);
  }
  std::optional<Prediction> predict_by_differences(const Eigen::VectorXd& x) const;

 private:
  std::optional<Prediction> predict_by_tangents(const Eigen::VectorXd& x) const;
  /// What parameter `j` changes on the path of a run; nothing where a recipe with another value has mistakes.
  /// @note Collective.
  std::optional<PathChange> change_by(Eigen::Index j, const Eigen::VectorXd& x, const FinishedRun& run,
                                      const CostVariables& variables) const;
  std::optional<Eigen::VectorXd> values_at(const Eigen::VectorXd& x) const;
  Recipe recipe_at(const Eigen::VectorXd& x) const;
  bool supports_tangents(const Experiment& experiment) const;

  const Program& program_;
  const FitData& data_;
  std::vector<FitParameter> parameters_;
  int refinement_;
  Recipe recipe_;  // of this case alone
  std::int64_t steps_ = 0;
  bool has_tangents_ = false;
  std::optional<ParameterForces> forces_;            // nothing where formulas are not smooth
  std::vector<std::vector<Eigen::Index>> formulas_;  // by parameter: those of the system's `parameters` that it is
};

}  // namespace bathline
