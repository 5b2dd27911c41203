// Things to record that are formulas.
#pragma once

#include "model/formula/scope.hpp"
#include "model/open_system.hpp"

namespace bathline {

/// The parameter `observables`.
Parameter observables_parameter();

/// Reads the observables of a section into the system, whose start is known. The first variables of the scope are the
/// positions and then the velocities.
void read_observables(const Section& section, FormulaScope& scope, OpenSystem& system, Mistakes& mistakes);

}  // namespace bathline
