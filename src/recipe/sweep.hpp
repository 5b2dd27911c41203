// A recipe with [sweep]: one recipe for every combination of the values that it lists.
#pragma once

#include <string>
#include <vector>

#include "recipe/mistakes.hpp"

namespace bathline {

/// What sets one element of a sweep apart from the others: its settings, as for `--set`.
using SweepElement = std::vector<std::string>;

/// The product of the lists under [sweep], whose keys are the dotted keys of the recipe: the keys in alphabetical
/// order, the last one changing fastest. Nothing where the recipe has no [sweep]. `settings` are applied before, and
/// can change the sweep itself. Text that is no TOML has no sweep either: whoever parses the recipe reports that.
std::vector<SweepElement> expand_sweep(const std::string& text, const std::string& file,
                                       const std::vector<std::string>& settings, Mistakes& mistakes);

}  // namespace bathline
