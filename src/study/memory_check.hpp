// Whether what a study keeps in memory fits.
#pragma once

#include <string>

#include "driver/experiment.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/recipe.hpp"

namespace bathline {

/// Such as "340 KiB".
std::string format_bytes(double bytes);

/// Adds a mistake at `key` of [study] if `what` needs more memory than there is: `bytes` on this rank. `advice` says
/// how to need less. @note Collective.
void check_memory(double bytes, const std::string& what, const char* key, const char* advice, const Recipe& recipe,
                  const Experiment& experiment, Mistakes& mistakes);

/// The same for `numbers` that every rank keeps for each record of all runs, and, if the study `gathers_sites`, for the
/// displacements and momenta of all sites on rank 0. @note Collective.
void check_memory_of_records(double numbers, bool gathers_sites, const Recipe& recipe, const Experiment& experiment,
                             Mistakes& mistakes);

}  // namespace bathline
