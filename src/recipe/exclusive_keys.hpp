// Keys of which a recipe gives one or the other, such as `end` and `steps`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include "recipe/mistakes.hpp"
#include "recipe/recipe_schema.hpp"

namespace bathline {

/// Adds a mistake where `table` of `file`, a table of the section `schema`, gives none or more than one of keys that
/// stand for one another. Looks at which keys are there, not at their values. Returns the keys of which none or too
/// many are given. What concerns a key among `misspelt` is not judged, as an unknown key is reported in its place.
std::vector<std::string> check_exclusive_keys(const toml::table& table, const SectionSchema& schema,
                                              std::span<const std::string> misspelt, const std::string& file,
                                              Mistakes& mistakes);

/// Takes the keys for which `key` stands out of `table`, a table of the section called `section`.
void remove_exclusive_keys(toml::table& table, const std::string& section, const std::string& key);

}  // namespace bathline
