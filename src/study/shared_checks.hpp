// What studies need of a recipe.
#pragma once

#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/recipe.hpp"

namespace bathline {

/// The needs of a study, each with one sentence for recipes that do not meet it.
struct StudyNeeds {
  bool linear_system = false;       ///< a quadratic potential
  bool no_external_forces = false;  ///< no force, drive or magnetic field of the system
  bool linear_couplings = false;    ///< no environment, nor damping that follows from one, on a nonlinear coupling
  /// The integrators that the study examines, in words, of which there must be one; and whether there is.
  std::string examined = {};
  bool has_examined = true;
  /// Groups of the results besides those of the integrators, which must have other names.
  std::vector<std::string> reserved_names = {};
};

/// Adds a mistake for every need that is not met. @note Collective.
void check_needs(const StudyNeeds& needs, const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);

/// Adds a mistake for each environment on a nonlinear coupling. @note Collective.
inline void refuse_nonlinear_couplings(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  check_needs({.linear_couplings = true}, recipe, experiment, mistakes);
}

}  // namespace bathline
