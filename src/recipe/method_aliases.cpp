// Aliases are resolved in the TOML tree, so that later code sees the methods of the catalogue only.
// Tested by tests/recipe/recipe_test.cpp.
#include "recipe/method_aliases.hpp"

#include <fmt/format.h>

#include <sstream>

#include "recipe/toml_document.hpp"

namespace bathline {

namespace {

std::string toml_form(const toml::node& node) {
  std::ostringstream out;
  out << toml::node_view<const toml::node>(node);
  return out.str();
}

void resolve_alias(toml::table& integrator, const std::string& file, const CatalogueSchema& catalogue_schema,
                   Mistakes& mistakes) {
  toml::value<std::string>* method = integrator["method"].as_string();
  const CatalogueEntry* entry = method == nullptr ? nullptr : find_entry(catalogue_schema.integrators, method->get());
  const Alias* alias = entry == nullptr ? nullptr : find_alias(*entry, method->get());
  if (alias == nullptr) return;
  for (const auto& [key, value] : alias->settings) {
    const auto preset = parse_toml_value(value, "");
    const auto given = integrator.find(key);
    if (given != integrator.end() && toml_form(given->second) != toml_form(*preset->get("value"))) {
      mistakes.add(location_of(given->first.source(), file),
                   fmt::format("`{}` is `{}` with {} = {}: leave `{}` out, or write method = \"{}\"", alias->name,
                               entry->name, key, value, key, entry->name));
    }
    integrator.insert_or_assign(key, *preset->get("value"));
  }
  if (!integrator.contains("name")) integrator.insert("name", alias->name);
  **method = entry->name;
}

}  // namespace

void resolve_aliases(toml::table& recipe, const std::string& file, const CatalogueSchema& catalogue_schema,
                     Mistakes& mistakes) {
  toml::array* integrators = recipe["integrators"].as_array();
  if (integrators == nullptr) return;
  for (toml::node& node : *integrators) {
    if (toml::table* integrator = node.as_table()) resolve_alias(*integrator, file, catalogue_schema, mistakes);
  }
}

}  // namespace bathline
