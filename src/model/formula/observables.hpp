// Observables given by formulas.
#pragma once

#include <string_view>

#include "model/formula/scope.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// Whether result files have other variables of this name.
bool is_reserved_name(std::string_view name);

/// The parameter `observables`.
Parameter observables_parameter();

/// Reads the observables of a section into the system, whose start has been read. The variables of the scope are the
/// positions, the velocities and the time, in this order.
void read_observables(const Section& section, FormulaScope& scope, ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
