// Descriptions of types and recipes, for messages and `bathline describe`.
#pragma once

#include <cstddef>
#include <string>

#include "recipe/recipe.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// Type, bound and choices of a parameter in a few words: "number > 0", "\"closed\" | \"open\"", "list of numbers".
std::string value_kind(const Parameter& parameter);

/// What follows "must be positive" where a mass is 0, as in other programs that of a particle that does not move.
inline constexpr const char* how_to_hold =
    "; to hold a particle leave its coordinate out and write its place as a number, or give it a large mass such as "
    "1e20";

/// The table that names `entry` and has none of its keys: with the defaults of those that have one.
Section default_section(const CatalogueEntry& entry);

/// The text of `bathline describe NAME` for a recipe without mistakes: title, paper, what it does and what it claims.
/// `elements` is the number of runs of its sweep, 0 without a sweep.
std::string describe(const Recipe& recipe, const std::string& name, const CatalogueSchema& catalogue_schema,
                     std::size_t elements);

}  // namespace bathline
