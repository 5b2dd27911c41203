// Conditions at the end of a run.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "model/variation/cost.hpp"
#include "model/particle_system.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// Functions of positions, velocities, time and controls at the end that are to be zero: differences of coordinates and
/// velocities from given values, then formulas.
class EndConditions {
 public:
  /// Those of `end` and `conditions` in the section of a study.
  static EndConditions read(const Section& study, const CostVariables& variables, const ParticleSystem& system,
                            Mistakes& mistakes);

  Eigen::Index size() const { return static_cast<Eigen::Index>(values_.size() + formulas_.size()); }
  /// Such as "x_dot", and "0" for the first formula.
  std::vector<std::string> names() const;
  bool depends_on_time() const;
  /// Their errors at the variables of the end.
  Eigen::VectorXd errors(const Eigen::VectorXd& variables) const;
  /// The gradient of weights . errors by positions, velocities, time, controls and parameters at the end.
  Eigen::VectorXd pull_back(const Eigen::VectorXd& variables, const Eigen::VectorXd& weights) const;

 private:
  /// A variable has a value.
  struct Value {
    std::string name;
    Eigen::Index variable;
    double value;
  };
  std::vector<Value> values_;
  std::vector<CostFormula> formulas_;
};

/// The keys of `EndConditions::read`.
std::vector<Parameter> end_condition_parameters();

}  // namespace bathline
