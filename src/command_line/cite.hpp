// BibTeX entries of the program and of the papers that a recipe is based on.
#pragma once

#include <string>
#include <vector>

#include "recipe/recipe.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// BibTeX of the program.
std::string cite_program();

/// BibTeX of every reference whose key occurs in one of the recipes (its paper, the sources of its claims) or in the
/// sources of the entries that it names: system, environments, integrators, study. In the order of references.bib.
std::string cite_recipes(const std::vector<Recipe>& recipes, const CatalogueSchema& catalogue_schema);

}  // namespace bathline
