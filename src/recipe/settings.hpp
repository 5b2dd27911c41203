// The arguments of `--set`, applied to a recipe before it is validated.
#pragma once

#include <string>
#include <vector>

#include <toml++/toml.h>

#include "recipe/mistakes.hpp"

namespace bathline {

/// Applies `settings` ("dotted.key=value") to `recipe` in order. Whatever they set has the argument as its place
/// ("--set dotted.key=value"), so that mistakes found later point at it.
void apply_settings(toml::table& recipe, const std::vector<std::string>& settings, Mistakes& mistakes);

}  // namespace bathline
