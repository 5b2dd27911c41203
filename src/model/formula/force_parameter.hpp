// Forces that are formulas beside a potential or a Lagrangian that is one.
#pragma once

#include <vector>

#include "model/formula/scope.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// The parameter `force`; `beside` says what it comes on top of.
Parameter force_parameter(const std::string& beside);

/// The formulas of `force`, one for each coordinate; none where there are none or one is not readable. The variables of
/// the scope are positions, velocities and the time, on which forces may depend, and then others.
std::vector<Expression> read_force(const Section& section, FormulaScope& scope, const ParticleSystem& system,
                                   Mistakes& mistakes);

/// Puts them into a system whose start is known: what depends on the time alone is a drive, unless there is another.
void add_force(const Section& section, FormulaScope& scope, std::span<const Expression> values, ParticleSystem& system,
               Mistakes& mistakes);

}  // namespace bathline
