// Checks of several studies: external forces, and names of integrators that clash with others in the results.
#pragma once

#include <string>
#include <vector>

#include "recipe/mistakes.hpp"
#include "driver/experiment.hpp"
#include "recipe/recipe.hpp"

namespace bathline {

/// Adds a mistake for each force, drive or magnetic field of the recipe's system.
void refuse_external_forces(const Recipe& recipe, Mistakes& mistakes);
/// Adds a mistake for each integrator that has, or whose damping follows from, an environment on a nonlinear coupling.
/// @note Collective.
void refuse_nonlinear_couplings(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);
/// Adds a mistake for each integrator with a name among `names`, which the study's group contains besides the
/// integrators.
void refuse_reserved_names(const Recipe& recipe, const std::vector<std::string>& names, Mistakes& mistakes);

}  // namespace bathline
