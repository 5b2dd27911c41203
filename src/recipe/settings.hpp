// The arguments of `--set` and `--unset`, applied to a recipe before it is validated.
#pragma once

#include <string>
#include <vector>

#include <toml++/toml.h>

#include "recipe/mistakes.hpp"

namespace bathline {

/// First character of a setting that removes its key.
inline constexpr char unset_mark = '!';

/// Applies `settings` ("dotted.key=value", or "!dotted.key" to remove the key) to `recipe` in order. Elements of lists
/// are selected by index from 0, or by their `name`, integrators without one by their `method`. The location of every
/// value that is set is the argument ("--set dotted.key=value"), for later mistakes.
void apply_settings(toml::table& recipe, const std::vector<std::string>& settings, Mistakes& mistakes);

}  // namespace bathline
