// The arguments of `--set` and `--unset`, applied to a recipe before it is validated.
#pragma once

#include <string>
#include <vector>

#include <toml++/toml.h>

#include "recipe/mistakes.hpp"

namespace bathline {

/// What a setting begins with that takes its key away.
inline constexpr char unset_mark = '!';

/// Applies `settings` ("dotted.key=value", or "!dotted.key" to take the key away) to `recipe` in order. Elements of
/// lists are named by index from 0, or by their `name`, integrators without one by their `method`. Whatever they set
/// has the argument as its place
/// ("--set dotted.key=value"), so that mistakes found later point at it.
void apply_settings(toml::table& recipe, const std::vector<std::string>& settings, Mistakes& mistakes);

}  // namespace bathline
