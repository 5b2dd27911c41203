// Kernels and spectral densities in recipes.
#pragma once

#include <memory>
#include <vector>

#include "model/environment_catalogue.hpp"

namespace bathline {

/// The keys that say what an environment's kernel or density is, and by what it is to be represented.
std::vector<Parameter> kernel_parameters();
/// Those of them that a section has.
std::vector<std::string> kernel_keys(const Section& section);

/// The environment of a section that has one of `kernel`, `kernel_file`, `spectral_density`, `spectral_density_file`:
/// an ordinary star or chain, which is Certified besides. What makes no sense is added to the mistakes, and then
/// nothing is returned. @note Collective.
std::unique_ptr<Environment> build_from_kernel(const Section& section, const ParticleSystem& system,
                                               const RunTimes& run, const Communicator& communicator,
                                               Mistakes& mistakes);

}  // namespace bathline
