// What to cite: the program, and the papers that a recipe rests on.
#pragma once

#include <string>
#include <vector>

#include "recipe/recipe.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// BibTeX of the program.
std::string cite_program();

/// BibTeX of every reference whose key stands in one of the recipes (its paper, the sources of its claims) or in the
/// sources of what it names: system, environments, integrators, study. In the order of references.bib, each once.
std::string cite_recipes(const std::vector<Recipe>& recipes, const CatalogueSchema& catalogue_schema);

}  // namespace bathline
