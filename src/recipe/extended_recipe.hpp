// A recipe that is another one with some keys replaced: `extends = "other.toml"`.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <toml++/toml.h>

#include "recipe/mistakes.hpp"

namespace bathline {

/// The text of a file, or nothing if it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

/// `text`, the recipe `file`, followed by the texts of the recipes that it extends, directly or through others. This is
/// what `parse_recipe` and `read_sweep` expect: one rank reads the files, and all ranks parse the same text.
std::string with_extended_recipes(const std::string& text, const std::string& file, const ReadFile& read);

/// The part of a text from `with_extended_recipes` that is the recipe itself.
std::string own_text(const std::string& text);

/// The recipe in a text from `with_extended_recipes`, without the key `extends`. A table of the extending recipe
/// replaces single keys, unless it has another `kind`; any other value, also an array of tables, is replaced as a
/// whole. Every value keeps the location in its own file.
std::optional<toml::table> parse_extended_toml(const std::string& text, const std::string& file, Mistakes& mistakes);

}  // namespace bathline
