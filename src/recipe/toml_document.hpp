// TOML text -> tree of toml++, with places that survive the changes made by `--set`.
#pragma once

#include <optional>
#include <string>

#include <toml++/toml.h>

#include "recipe/location.hpp"
#include "recipe/mistakes.hpp"

namespace bathline {

/// Parses `text`. The source path of every node is `file`. Nothing, and one mistake, where it is not TOML.
std::optional<toml::table> parse_toml(const std::string& text, const std::string& file, Mistakes& mistakes);

/// The single value written in `text`, with `origin` as its source path; null where `text` is not one TOML value.
/// The value is the only content of the table returned, under the key "value", because only moving a node keeps its
/// place.
std::optional<toml::table> parse_toml_value(const std::string& text, const std::string& origin);

/// The place of a key or value: a line of `file`, or without line where it came from somewhere else (`--set ...`).
Location location_of(const toml::source_region& region, const std::string& file);

}  // namespace bathline
