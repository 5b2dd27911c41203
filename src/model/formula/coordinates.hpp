// Coordinates that the recipe names.
#pragma once

#include <optional>

#include "model/formula/scope.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// The parameter `coordinates`.
Parameter coordinates_parameter();

/// Adds a particle for each of the section's coordinates to the system. Returns a scope with the coordinates, then
/// their velocities `x_dot`, then the time `t`, as variables, and the numbers of `parameters`; nothing, and a mistake,
/// where there are no coordinates.
std::optional<FormulaScope> read_coordinates(const Section& section, ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
