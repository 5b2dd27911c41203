// Calls the TOML parser and turns its errors into mistakes.
#include "recipe/toml_document.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "text/printable_text.hpp"
#include "recipe/key_depth.hpp"

namespace bathline {

namespace {

// A recipe needs five; together with the parser's bound on nested values this bounds the depth of the tree.
constexpr int max_key_segments = 16;

}  // namespace

std::optional<toml::table> parse_toml(const std::string& text, const std::string& file, Mistakes& mistakes) {
  if (const auto deep = find_deep_key(text, max_key_segments)) {
    mistakes.add({file, deep->first, deep->second},
                 "a dotted key may have at most " + std::to_string(max_key_segments) + " parts");
    return std::nullopt;
  }
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    Location where = location_of(error.source(), file);
    std::string description = printable(error.description(), 300);
    if (!description.empty()) description[0] = static_cast<char>(std::tolower(description[0]));
    mistakes.add(std::move(where), "not valid TOML: " + description);
    return std::nullopt;
  }
}

std::optional<toml::table> parse_toml_value(const std::string& text, const std::string& origin) {
  Mistakes ignored;
  auto parsed = parse_toml("value = " + text, origin, ignored);
  // Text with a line break may contain further keys: "1\nother = 2" is not one value.
  if (parsed && parsed->size() != 1) return std::nullopt;
  return parsed;
}

double number_of(const toml::node& node) {
  const auto* integer = node.as_integer();
  return integer != nullptr ? static_cast<double>(integer->get()) : node.as_floating_point()->get();
}

Location location_of(const toml::source_region& region, const std::string& file) {
  if (region.path && region.path->starts_with("--")) return {*region.path, 0, 0};
  return {region.path ? *region.path : file, static_cast<int>(region.begin.line),
          static_cast<int>(region.begin.column)};
}

Location location_of(const toml::table& table, const std::string& file) {
  if (table.source().begin || table.source().path || table.empty()) return location_of(table.source(), file);
  const auto first = std::min_element(table.begin(), table.end(), [](const auto& a, const auto& b) {
    return a.first.source().begin < b.first.source().begin;
  });
  return location_of(first->first.source(), file);
}

}  // namespace bathline
