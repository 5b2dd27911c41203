// For studies whose theory knows nothing that acts from outside.
#pragma once

#include "recipe/mistakes.hpp"
#include "recipe/recipe.hpp"

namespace bathline {

/// Adds a mistake for each force or drive of the recipe's system.
void refuse_outside(const Recipe& recipe, Mistakes& mistakes);

}  // namespace bathline
