// What the keys of a recipe must satisfy together, beyond each being right on its own.
#pragma once

#include "recipe/mistakes.hpp"
#include "recipe/recipe.hpp"
#include "recipe/vocabulary.hpp"

namespace bathline {

/// Adds a mistake for every rule that `recipe`, and `top` outside of its sections, break. Rules about values that could
/// not be read are skipped.
void check_recipe(const Section& top, const Recipe& recipe, const Vocabulary& vocabulary, Mistakes& mistakes);

}  // namespace bathline
