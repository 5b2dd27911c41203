// The words in which types of values are described, shared by messages and `bathline describe`.
#pragma once

#include <cstddef>
#include <string>

#include "recipe/recipe.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// Type, bound and choices of a parameter in a few words: "number > 0", "\"closed\" | \"open\"", "list of numbers".
std::string value_kind(const Parameter& parameter);

/// The text of `bathline describe NAME` for a recipe without mistakes: title, paper, what it does and what it claims.
/// `elements` is how many runs it stands for by its sweep, 0 where it has none.
std::string describe(const Recipe& recipe, const std::string& name, const CatalogueSchema& catalogue_schema,
                     std::size_t elements);

}  // namespace bathline
