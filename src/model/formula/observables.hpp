// Things to record that are formulas.
#pragma once

#include "model/formula/scope.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// The parameter `observables`.
Parameter observables_parameter();

/// Reads the observables of a section into the system, whose start is known. The variables of the scope are the
/// positions, then the velocities, then the time.
void read_observables(const Section& section, FormulaScope& scope, ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
