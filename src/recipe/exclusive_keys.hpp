// Mutually exclusive keys of a recipe, such as `end` and `steps`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include "recipe/mistakes.hpp"
#include "recipe/recipe_schema.hpp"

namespace bathline {

/// Adds a mistake if `table` of `file`, a table of the section `schema`, has none or more than one of mutually
/// exclusive keys, whatever their values. Keys among `misspelt` are not checked, because an unknown key is reported in
/// their place.
void check_exclusive_keys(const toml::table& table, const SectionSchema& schema, std::span<const std::string> misspelt,
                          const std::string& file, Mistakes& mistakes);

/// Removes the keys that `key` excludes from `table`, a table of the section called `section`.
void remove_exclusive_keys(toml::table& table, const std::string& section, const std::string& key);

}  // namespace bathline
