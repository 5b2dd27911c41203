// External forces that every system can have.
#pragma once

#include <string>
#include <vector>

#include "model/particle_system.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// The parameter `drive` alone, for systems with a Lagrangian.
Parameter drive_parameter();

/// The parameters `drive`, `drive_file`, `parameters` and `uniform_field`.
std::vector<Parameter> external_force_parameters();

/// The parameter `magnetic_field`, for systems whose motion can be planar.
Parameter magnetic_field_parameter();
/// The text about it in the notes of such systems.
std::string magnetic_field_notes();

/// Reads the external forces into a system that is otherwise complete. Drives must have values at the start and at the
/// `end` of the run.
void read_external_forces(const Section& section, double end, ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
