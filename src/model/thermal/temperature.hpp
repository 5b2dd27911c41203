// The temperature and the thermal start of the particles, from a recipe.
#pragma once

#include "model/particle_system.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// Reads `start`, and `kT`, one number or one for each particle, into a system whose numbers of particles and
/// axes are set.
void read_temperature(const Section& section, ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
