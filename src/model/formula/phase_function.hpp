// Formulas of positions, velocities and time.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/formula/scope.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// A function of all positions and velocities, and of the time in seconds.
using PhaseFunction = std::function<double(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t)>;

/// A scope whose variables are the coordinates of a system by their names, its velocities, with `_dot` behind the
/// names, and the time `t`.
FormulaScope phase_scope(const ParticleSystem& system);

/// The function of an expression in a scope whose variables are the positions, the velocities and, if there are more,
/// the time. Throws FormulaTooLarge.
PhaseFunction phase_function(const FormulaScope& scope, Expression expression);

/// The formula `key` of a section in the variables of `phase_scope`. Nothing, and a mistake, where it is invalid or has
/// no finite value at the start.
std::optional<PhaseFunction> read_phase_function(const Section& section, const std::string& key,
                                                 const ParticleSystem& system, Mistakes& mistakes);

/// A formula with further variables: `variables` are all positions, all velocities, the time, and these.
struct ExtendedPhaseFunction {
  std::function<double(const Eigen::VectorXd& variables)> value;
  std::vector<bool> uses;  ///< whether it depends on each of the further variables
};

/// As above, with the names `more` of the further variables, which are 0 at the start. A name that a coordinate has
/// means the coordinate.
std::optional<ExtendedPhaseFunction> read_extended_phase_function(const Section& section, const std::string& key,
                                                                  const ParticleSystem& system,
                                                                  std::span<const std::string> more,
                                                                  Mistakes& mistakes);

/// The formula `key` of a section in one variable with this name. Nothing, and a mistake, where it is invalid or has no
/// finite value where the variable is `point`.
std::optional<std::function<double(double)>> read_function_of(const Section& section, const std::string& key,
                                                              const std::string& name, double point,
                                                              Mistakes& mistakes);

}  // namespace bathline
