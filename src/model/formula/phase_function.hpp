// Formulas of positions and velocities.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/formula/scope.hpp"
#include "model/open_system.hpp"

namespace bathline {

/// Of all positions and velocities, and of the time in seconds.
using PhaseFunction = std::function<double(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t)>;

/// A scope whose variables are the coordinates of a system by their names, its velocities, with `_dot` behind the
/// names, and the time `t`.
FormulaScope phase_scope(const OpenSystem& system);

/// The function that an expression is in a scope whose first variables are the positions, then the velocities, and then
/// the time, if there is a third kind. Throws FormulaTooLarge.
PhaseFunction phase_function(const FormulaScope& scope, Expression expression);

/// The formula that is the text `key` of a section, in the coordinates of a system by their names, with `_dot` behind
/// them for the velocities, and the time `t`. Nothing, and a mistake, where it is none or has no finite value at the
/// start.
std::optional<PhaseFunction> read_phase_function(const Section& section, const std::string& key,
                                                 const OpenSystem& system, Mistakes& mistakes);

}  // namespace bathline
