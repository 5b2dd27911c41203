// What a fit compares: measured values, and those that a run of the recipe has with other numbers in it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "recipe/number_at.hpp"
#include "steppers/transposed/tangent_run.hpp"
#include "study/measured_values.hpp"

namespace bathline {

/// A parameter of a fit: a number that the recipe has at one place or several.
struct FitParameter {
  std::string name;
  std::vector<NumberAt> places;
  double start = 0.0;
  double scale = 1.0;  ///< its size where it is not larger, for differences
  double lower, upper;
};

/// A recipe with one case alone and without claims.
Recipe recipe_of(Recipe recipe, const Case& this_case);

/// The case of such a recipe with other numbers in it, perhaps with a shorter step.
struct ChangedCase {
  Recipe recipe;
  Mistakes mistakes = {};
  Experiment experiment;
  const Case* this_case = nullptr;  ///< nullptr where there are mistakes
  double h = 0.0;

  ChangedCase(Recipe changed, const Program& program, int refinement);
  /// @note Collective.
  Problem prepared(const ParticleSystem& system) const;
};
/// What prepares its problems; nothing where there are mistakes. @note Collective.
std::optional<Preparation> preparation_of(Recipe changed, const Program& program, int refinement);

/// Weighted values (not differences from those measured) and their derivatives by the parameters.
struct Prediction {
  Eigen::MatrixXd columns;  ///< the values, then a column for each parameter
  auto values() const { return columns.col(0); }
  auto slopes() const { return columns.rightCols(columns.cols() - 1); }
};

/// The values of one case of an experiment as a function of the parameters.
///
/// Slopes are tangents (steppers/transposed/tangent_run). Where these are not supported, and between two steps, where
/// the path is Hermite's polynomial (driver/quintic_hermite), slopes are central differences over 2 d, d = (3
/// eps)^(1/3) of a parameter: their errors d^2/6 and eps/d, in units of its size, are then equal, 1e-11; one-sided ones
/// of second order at a bound. What changes on the path is known exactly for parameters of smooth formulas of the
/// system.
class FitModel {
 public:
  /// `program` and `data` must outlive it. Steps are those of the case, divided by `refinement`; `recipe` has the texts
  /// of its files. @note Collective.
  FitModel(Recipe recipe, const Program& program, const Case& this_case, const MeasuredValues& data,
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
                                      const ChangedCase& here) const;
  /// The variables of costs at the times of the data, on rank 0; nothing where the run fails. @note Collective.
  std::optional<std::vector<Eigen::VectorXd>> states_of(const ChangedCase& here, Problem& problem,
                                                        Stepper& stepper) const;
  /// The weighted values in these states, on every rank; nothing where they are not finite. @note Collective.
  std::optional<Eigen::VectorXd> values_at(const std::vector<Eigen::VectorXd>& states,
                                           const Communicator& communicator) const;
  std::optional<Eigen::VectorXd> values_at(const Eigen::VectorXd& x) const;
  Recipe recipe_at(const Eigen::VectorXd& x) const;
  bool supports_tangents(const Experiment& experiment) const;

  const Program& program_;
  const MeasuredValues& data_;
  std::vector<FitParameter> parameters_;
  int refinement_;
  Recipe recipe_;  // of this case alone
  std::int64_t steps_ = 0;
  bool has_tangents_ = false;
  std::optional<ParameterForces> forces_;            // nothing where formulas are not smooth
  Eigen::Index first_parameter_ = 0;                 // among the variables of costs
  std::vector<std::vector<Eigen::Index>> formulas_;  // by parameter: those of the system's `parameters` that it is
};

}  // namespace bathline
