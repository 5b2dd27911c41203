// Coordinates of the user's own.
#pragma once

#include <optional>

#include "model/formula/scope.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// The parameter `coordinates`: their names.
Parameter coordinates_parameter();

/// Gives the system a particle for each of the section's coordinates. Returns a scope with these, then their velocities
/// `x_dot`, then the time `t`, as variables, and the numbers of its `parameters`; nothing, and a mistake, where there
/// is no coordinate.
std::optional<FormulaScope> read_coordinates(const Section& section, ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
