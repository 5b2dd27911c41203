// Rules between the keys of a recipe, beyond the validity of each.
#pragma once

#include "recipe/mistakes.hpp"
#include "recipe/recipe.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// Adds a mistake for every rule that `recipe` violates. Rules on values that could not be read are skipped.
void check_recipe(const Recipe& recipe, const CatalogueSchema& catalogue_schema, Mistakes& mistakes);

}  // namespace bathline
