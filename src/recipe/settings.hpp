// The arguments of `--set` and `--unset`, applied to a recipe before it is validated.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "recipe/mistakes.hpp"

namespace bathline {

/// First character of a setting that removes its key.
inline constexpr char unset_mark = '!';

/// The location of what a setting sets: "--set dotted.key=value".
std::string origin_of_setting(const std::string& setting);

/// The settings of the table `section` and its keys, and all others.
std::pair<std::vector<std::string>, std::vector<std::string>> settings_of(const std::string& section,
                                                                          const std::vector<std::string>& settings);

/// Applies `settings` ("dotted.key=value", or "!dotted.key" to remove the key) to `recipe` in order. Elements of lists
/// are selected by index from 0, or by their `name`, integrators without one by their `method`. The location of every
/// value that is set is its argument, for later mistakes.
void apply_settings(toml::table& recipe, const std::vector<std::string>& settings, Mistakes& mistakes);

}  // namespace bathline
