// TOML text -> tree of toml++, with locations that survive the changes made by `--set`.
#pragma once

#include <optional>
#include <string>

#include <toml++/toml.h>

#include "recipe/location.hpp"
#include "recipe/mistakes.hpp"

namespace bathline {

/// Parses `text`. The source path of every node is `file`. Returns nothing and adds one mistake if it is not TOML.
std::optional<toml::table> parse_toml(const std::string& text, const std::string& file, Mistakes& mistakes);

/// The single value written in `text`, with `origin` as its source path; nothing if `text` is not one TOML value. The
/// value is the only content of the returned table, under the key "value", because only moving a node keeps its
/// location.
std::optional<toml::table> parse_toml_value(const std::string& text, const std::string& origin);

/// The value of a number, rounded if it is an integer that no double equals.
double number_of(const toml::node& node);

/// The location of a key or value: a line of the file that it comes from, `file` if that is unknown, or its origin
/// without a line if it is an argument (`--set ...`).
Location location_of(const toml::source_region& region, const std::string& file);

/// The location of a table, of its first key if it is a copy: copies of nodes have no location, but keys keep theirs.
Location location_of(const toml::table& table, const std::string& file);

}  // namespace bathline
