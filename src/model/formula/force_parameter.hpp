// The parameter `force` of systems whose potential or Lagrangian is a formula.
#pragma once

#include <vector>

#include "model/formula/scope.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// The parameter `force`; `beside` names the formula that it is added to.
Parameter force_parameter(const std::string& beside);

/// The formulas of `force`, one for each coordinate; empty where the key is absent or a formula is invalid. The
/// variables of the scope are positions, velocities and the time, on which forces may depend, followed by others, to
/// which this adds the controls of the section, whose names only forces have.
std::vector<Expression> read_force(const Section& section, FormulaScope& scope, const ParticleSystem& system,
                                   Mistakes& mistakes);

/// Adds the forces to a system whose start has been read: as its drive where they depend on the time alone and there is
/// no `drive`, else as its applied force.
void add_force(const Section& section, FormulaScope& scope, std::span<const Expression> values, ParticleSystem& system,
               Mistakes& mistakes);

}  // namespace bathline
