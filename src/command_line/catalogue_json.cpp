// The catalogues and the keys of recipes as JSON.
// Tested by tests/command_line/reference_test.py.
#include "command_line/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <utility>

#include "driver/json_text.hpp"
#include "recipe/describe.hpp"
#include "recipe/recipe_schema.hpp"

namespace bathline {

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string json_object(const Fields& fields) {
  std::vector<std::string> members;
  for (const auto& [key, value] : fields) members.push_back(json_string(key) + ": " + value);
  return fmt::format("{{{}}}", fmt::join(members, ", "));
}

template <class Things, class ToJson>
std::string json_list(const Things& things, ToJson to_json) {
  std::vector<std::string> elements;
  for (const auto& thing : things) elements.push_back(to_json(thing));
  return fmt::format("[{}]", fmt::join(elements, ",\n"));
}

std::string json_boolean(bool value) { return value ? "true" : "false"; }

std::string json_parameters(std::span<const Parameter> parameters) {
  return json_list(parameters, [](const Parameter& parameter) {
    return json_object({{"name", json_string(parameter.name)},
                        {"type", json_string(value_kind(parameter))},
                        {"units", json_string(parameter.units)},
                        {"doc", json_string(parameter.doc)},
                        {"default", json_string(parameter.default_value)},
                        {"required", json_boolean(parameter.required)},
                        {"catalogue", json_string(parameter.catalogue_name)},
                        {"members", json_parameters(parameter.members)}});
  });
}

std::string json_entry(const CatalogueEntry& entry, const std::string& notes) {
  return json_object({{"name", json_string(entry.name)},
                      {"summary", json_string(entry.summary)},
                      {"equation", json_string(entry.equation)},
                      {"source", json_string(entry.source)},
                      {"notes", json_string(notes)},
                      {"parameters", json_parameters(entry.parameters)}});
}

std::string json_entries(const std::vector<CatalogueEntry>& entries) {
  return json_list(entries, [](const CatalogueEntry& entry) { return json_entry(entry, entry.notes); });
}

std::string json_section(const SectionSchema& section) {
  return json_object({{"name", json_string(section.name)},
                      {"header", json_string(section.header())},
                      {"doc", json_string(section.doc)},
                      {"required", json_boolean(section.required)},
                      {"repeated", json_boolean(section.repeated)},
                      {"chooser", json_string(section.chooser)},
                      {"catalogue", json_string(section.catalogue_name)},
                      {"parameters", json_parameters(section.parameters)}});
}

}  // namespace

std::string catalogue_json(const Program& program) {
  const CatalogueSchema& schema = program.catalogue_schema();
  const auto integrator = [&](const CatalogueEntry& entry) {
    const std::string properties = describe_properties(*program.catalogues().integrators.find(entry.name));
    return json_entry(entry, properties + (entry.notes.empty() ? "" : " ") + entry.notes);
  };
  return json_object({{"top", json_parameters(recipe_keys())},
                      {"sections", json_list(recipe_sections(), json_section)},
                      {"systems", json_entries(schema.systems)},
                      {"potentials", json_entries(schema.potentials)},
                      {"environments", json_entries(schema.environments)},
                      {"integrators", json_list(schema.integrators, integrator)},
                      {"studies", json_entries(schema.studies)}}) +
         "\n";
}

}  // namespace bathline
