// What several studies refuse: what acts from outside, and labels that are names of their own.
#pragma once

#include <string>
#include <vector>

#include "recipe/mistakes.hpp"
#include "recipe/recipe.hpp"

namespace bathline {

/// Adds a mistake for each force or drive of the recipe's system.
void refuse_external_forces(const Recipe& recipe, Mistakes& mistakes);
/// Adds a mistake for each label that is one of these `names`, which stand in the study's group beside the labels'.
void refuse_labels(const Recipe& recipe, const std::vector<std::string>& names, Mistakes& mistakes);

}  // namespace bathline
