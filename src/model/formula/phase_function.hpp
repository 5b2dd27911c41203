// Formulas of positions and velocities.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/formula/scope.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// Of all positions and velocities, and of the time in seconds.
using PhaseFunction = std::function<double(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t)>;

/// A scope whose variables are the coordinates of a system by their names, its velocities, with `_dot` behind the
/// names, and the time `t`.
FormulaScope phase_scope(const ParticleSystem& system);

/// The function that an expression is in a scope whose first variables are the positions, then the velocities, and then
/// the time, if there is a third kind. Throws FormulaTooLarge.
PhaseFunction phase_function(const FormulaScope& scope, Expression expression);

/// The formula that is the text `key` of a section, in the coordinates of a system by their names, with `_dot` behind
/// them for the velocities, and the time `t`. Nothing, and a mistake, where it is none or has no finite value at the
/// start.
std::optional<PhaseFunction> read_phase_function(const Section& section, const std::string& key,
                                                 const ParticleSystem& system, Mistakes& mistakes);

/// A formula of more than a state: its variables are all positions, all velocities, the time, and more numbers.
struct ExtendedPhaseFunction {
  std::function<double(const Eigen::VectorXd& variables)> value;
  std::vector<bool> uses;  ///< by number of these
};

/// As above, with `more` as the names of such numbers, which are 0 at the start. Coordinates go before them.
std::optional<ExtendedPhaseFunction> read_extended_phase_function(const Section& section, const std::string& key,
                                                                  const ParticleSystem& system,
                                                                  std::span<const std::string> more,
                                                                  Mistakes& mistakes);

/// The formula that is the text `key` of a section, in one variable of this name. Nothing, and a mistake, where it is
/// none or has no finite value at `at`.
std::optional<std::function<double(double)>> read_function_of(const Section& section, const std::string& key,
                                                              const std::string& name, double at, Mistakes& mistakes);

}  // namespace bathline
