// Recipes with [sweep]: one recipe for every combination of the listed values.
#pragma once

#include <string>
#include <vector>

#include "recipe/mistakes.hpp"

namespace bathline {

/// The settings of one element of a sweep, as for `--set`.
using SweepElement = std::vector<std::string>;

/// The product of the lists under [sweep], whose keys are the dotted keys of the recipe: the keys in alphabetical
/// order, the last one changing fastest. Empty if the recipe has no [sweep]. `settings` are applied first and can
/// change the sweep itself. Text that is not TOML has no sweep; `parse_recipe` reports the error.
std::vector<SweepElement> expand_sweep(const std::string& text, const std::string& file,
                                       const std::vector<std::string>& settings, Mistakes& mistakes);

}  // namespace bathline
