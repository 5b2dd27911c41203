// Calls the TOML parser and turns its complaints into mistakes.
#include "recipe/toml_document.hpp"

#include <cctype>
#include <utility>

#include "recipe/printable_text.hpp"
#include "recipe/key_depth.hpp"

namespace bathline {

namespace {

// A recipe needs five; together with the parser's bound on nested values this bounds the depth of the tree.
constexpr int longest_key = 16;

}  // namespace

std::optional<toml::table> parse_toml(const std::string& text, const std::string& file, Mistakes& mistakes) {
  if (const auto deep = find_deep_key(text, longest_key)) {
    mistakes.add({file, deep->first, deep->second},
                 "a dotted key may have at most " + std::to_string(longest_key) + " parts");
    return std::nullopt;
  }
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    Location where = location_of(error.source(), file);
    std::string complaint = printable(error.description(), 300);
    if (!complaint.empty()) complaint[0] = static_cast<char>(std::tolower(complaint[0]));
    mistakes.add(std::move(where), "not valid TOML: " + complaint);
    return std::nullopt;
  }
}

std::optional<toml::table> parse_toml_value(const std::string& text, const std::string& origin) {
  Mistakes ignored;
  auto parsed = parse_toml("value = " + text, origin, ignored);
  // Text with a line break may hold further keys: "1\nother = 2" is not one value.
  if (parsed && parsed->size() != 1) return std::nullopt;
  return parsed;
}

Location location_of(const toml::source_region& region, const std::string& file) {
  if (region.path && *region.path != file) return {*region.path, 0, 0};
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

}  // namespace bathline
