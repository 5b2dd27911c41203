// Kernels and spectral densities in recipes.
#pragma once

#include <memory>
#include <vector>

#include "model/environment_catalogue.hpp"

namespace bathline {

/// The keys for the kernel or density of an environment and for its representation.
std::vector<Parameter> kernel_parameters();
/// The keys among them that a section has.
std::vector<std::string> kernel_keys(const Section& section);

/// The environment of a section that has one of `kernel`, `kernel_file`, `spectral_density`, `spectral_density_file`:
/// a star, chain or memory that is also Certified. Invalid values are added to the mistakes, and then nothing is
/// returned.
/// @note Collective.
std::unique_ptr<Environment> build_from_kernel(const Section& section, const ParticleSystem& system,
                                               const RunTimes& run, const Communicator& communicator,
                                               Mistakes& mistakes);

}  // namespace bathline
