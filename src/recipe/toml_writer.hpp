// Values and validated sections -> TOML text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// The shortest text that is read back as exactly `value` and as a float, not an integer.
std::string toml_number(double value);

/// `value` as a quoted text on one line.
std::string toml_text(std::string_view value);

/// The keys of `section` in the order of `parameters`; tables follow under headers that begin with `path` ("figure"
/// gives `[[figure.panels]]`).
std::string toml_keys(const Section& section, std::span<const Parameter> parameters, const std::string& path);

}  // namespace bathline
