// Conditions at the end of a run.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "model/variation/cost.hpp"
#include "model/particle_system.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// Formulas in positions, velocities, time and controls at the end that are to be zero; the first ones are differences
/// of coordinates and velocities from given values.
class EndConditions {
 public:
  /// Those of `end` and `conditions` in the section of a study.
  static EndConditions read(const Section& study, const CostVariables& variables, const ParticleSystem& system,
                            Mistakes& mistakes);

  Eigen::Index size() const { return static_cast<Eigen::Index>(formulas_.size()); }
  /// Such as "x_dot", and "0" for the first formula of the study.
  const std::vector<std::string>& names() const { return names_; }
  bool depends_on_time() const;
  /// Their errors at the variables of the end.
  Eigen::VectorXd errors(const Eigen::VectorXd& variables) const;
  /// The gradient of weights . errors by positions, velocities, time, controls and parameters at the end.
  Eigen::VectorXd pull_back(const Eigen::VectorXd& variables, const Eigen::VectorXd& weights) const;

 private:
  std::vector<std::string> names_;
  std::vector<CostFormula> formulas_;
};

/// The keys of `EndConditions::read`.
std::vector<Parameter> end_condition_parameters();

/// The index of a position or velocity among the variables; nothing, and a mistake at `where`, where `name` is none.
std::optional<Eigen::Index> state_variable(const std::string& name, const CostVariables& variables, const char* key,
                                           const Location& where, Mistakes& mistakes);

}  // namespace bathline
