// Sections for anything in a catalogue, filled in from its own description.
#pragma once

#include <string>
#include <vector>

#include "model/potentials/catalogue.hpp"
#include "recipe/section.hpp"

namespace bathline {

inline Section example_section(const CatalogueEntry& entry, const std::vector<std::string>& more = {});

/// Some value of the type that a parameter asks for, different for different `number`s; positive.
inline Section::Value example_value(const Parameter& parameter, int number) {
  const double some = 0.7 + 0.37 * number;
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
      return std::vector<double>{some, 1.5 * some};
    case ValueType::integers:
      return std::vector<long>{0, 1};
    case ValueType::texts:
      // Of a typed system, whose V is a function of one of them.
      return parameter.name == "coordinates" ? std::vector<std::string>{"r", "x"} : std::vector<std::string>{};
    case ValueType::rows:
      return Section::Rows{{some}};
    case ValueType::number:
      if (!parameter.default_value.empty()) return std::stod(parameter.default_value);
      if (parameter.bound == Bound::negative) return -some;
      return parameter.bound == Bound::unit_interval ? 0.3 : some;
    default:
      break;
  }
  if (parameter.catalogue_name != "potentials") return std::vector<Section>{};
  return std::vector<Section>{example_section(potentials().begin()->entry)};
}

/// What is required or has a default; and what `more` names.
inline Section example_section(const CatalogueEntry& entry, const std::vector<std::string>& more) {
  Section section;
  section.set("kind", entry.name, {});
  int number = 0;
  bool takes_names = false;  // of the user's choice, so that one more would be another number
  for (const Parameter& parameter : entry.parameters) takes_names = takes_names || parameter.name == wildcard_key;
  if (!takes_names) section.set("name", entry.name, {});
  for (const Parameter& parameter : entry.parameters) {
    ++number;
    bool wanted = parameter.required || !parameter.default_value.empty();
    for (const std::string& name : more) wanted = wanted || name == parameter.name;
    if (wanted) section.set(parameter.name, example_value(parameter, number), {});
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
