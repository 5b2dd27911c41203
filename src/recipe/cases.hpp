// Tables of a recipe that stand for several, and constants in texts: `for_each` and `{name}`.
#pragma once

#include <string>

#include <toml++/toml.h>

#include "recipe/constants.hpp"
#include "recipe/mistakes.hpp"

namespace bathline {

/// Replaces every table of a list that has the key `for_each` by one table for each case. `for_each` is a table of
/// lists, whose combinations are the cases; the list written last varies fastest. An element that is a table gives
/// several values, by its own keys. In the texts of a case, `{name}` becomes the case's value of that name; a text that
/// is `{name}` alone becomes the value itself, of any type.
void expand_cases(toml::table& recipe, const std::string& file, Mistakes& mistakes);

/// Replaces `{name}` by the constant of that name in every text of the recipe, as `expand_cases` does.
void insert_constants(toml::table& recipe, const Constants& constants, const std::string& file, Mistakes& mistakes);

}  // namespace bathline
