// What acts on the particles of any system from outside.
#pragma once

#include <string>
#include <vector>

#include "model/particle_system.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// The parameter `drive`, for systems that have the rest of what follows otherwise.
Parameter drive_parameter();

/// The parameters `drive`, the numbers that it uses by name, and `uniform_field`.
std::vector<Parameter> external_force_parameters();

/// The parameter `magnetic_field`, for systems that can be in a plane.
Parameter magnetic_field_parameter();
/// What `describe` says of it.
std::string magnetic_field_notes();

/// Reads them into a system that is complete but for that; what makes no sense is added to the mistakes.
void read_external_forces(const Section& section, ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
