// Sections for any entry of a catalogue, filled in from its description.
#pragma once

#include <string>
#include <vector>

#include "model/potentials/catalogue.hpp"
#include "recipe/section.hpp"

namespace bathline {

inline Section example_section(const CatalogueEntry& entry, const std::vector<std::string>& optional_keys = {});

/// A positive value of the parameter's type, different for different `number`s.
inline Section::Value example_value(const Parameter& parameter, int number) {
  const double value = 0.7 + 0.37 * number;
  switch (parameter.type) {
    case ValueType::boolean:
      return parameter.default_value != "false";
    case ValueType::integer:
      return parameter.default_value.empty() ? 5L : std::stol(parameter.default_value);
    case ValueType::text:
      if (parameter.name == "L") return std::string("(1 + x^2)*r_dot^2 + x_dot^2 - r^4 + r*x_dot");
      if (parameter.name == "V") return std::string("0.5*r^2 + 0.1*r^4");
      if (!parameter.default_value.empty())
        return parameter.default_value.substr(1, parameter.default_value.size() - 2);
      return parameter.choices.empty() ? std::string("text") : parameter.choices.front();
    case ValueType::numbers:
      return std::vector<double>{value, 1.5 * value};
    case ValueType::integers:
      return std::vector<long>{0, 1};
    case ValueType::texts:
      // For a typed system, whose V is a function of one of them.
      return parameter.name == "coordinates" ? std::vector<std::string>{"r", "x"} : std::vector<std::string>{};
    case ValueType::rows:
      return Section::Rows{{value}};
    case ValueType::number:
      if (!parameter.default_value.empty()) return std::stod(parameter.default_value);
      if (parameter.bound == Bound::negative) return -value;
      return parameter.bound == Bound::unit_interval ? 0.3 : value;
    default:
      break;
  }
  if (parameter.catalogue_name != "potentials") return std::vector<Section>{};
  return std::vector<Section>{example_section(potentials().begin()->entry)};
}

/// The keys that are required or have a default, and those in `optional_keys`.
inline Section example_section(const CatalogueEntry& entry, const std::vector<std::string>& optional_keys) {
  Section section;
  section.set("kind", entry.name, {});
  int number = 0;
  bool takes_names = false;  // of the user's choice, among which `name` would be a further entry
  for (const Parameter& parameter : entry.parameters) takes_names = takes_names || parameter.name == wildcard_key;
  if (!takes_names) section.set("name", entry.name, {});
  for (const Parameter& parameter : entry.parameters) {
    ++number;
    bool is_included = parameter.required || !parameter.default_value.empty();
    for (const std::string& name : optional_keys) is_included = is_included || name == parameter.name;
    if (is_included) section.set(parameter.name, example_value(parameter, number), {});
  }
  return section;
}

inline bool has_parameter(const CatalogueEntry& entry, const std::string& name) {
  for (const Parameter& parameter : entry.parameters) {
    if (parameter.name == name) return true;
  }
  return false;
}

}  // namespace bathline
