// Every integrator of the catalogue for systems without an action z, with representative options: all choices of a
// text, the corners and the middle of the unit interval, defaults otherwise. New methods of the catalogue are included
// automatically.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "methods/method.hpp"
#include "recipe/section.hpp"

namespace bathline {

struct MethodCase {
  std::string name;  ///< "gamma(gamma=0.25)"
  const Method* method;
  Section options;
  Scheme scheme;
  MethodProperties properties;
};

/// The values that the tests try for an option; the first is the default.
inline std::vector<Section::Value> representative_values(const Parameter& option) {
  std::vector<Section::Value> values;
  if (option.type == ValueType::text) {
    for (const std::string& choice : option.choices) values.emplace_back(choice);
  } else if (option.type == ValueType::integer) {
    values.emplace_back(std::stol(option.default_value));
    for (const std::string& choice : option.choices) {
      if (choice != option.default_value) values.emplace_back(std::stol(choice));
    }
  } else if (option.type == ValueType::boolean) {
    values = {true, false};
  } else if (option.bound == Bound::unit_interval) {
    values = {0.0, 0.25, 0.5, 1.0};
  } else {
    values.emplace_back(std::stod(option.default_value));
  }
  return values;
}

inline std::string printed(const Section::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<long>(&value)) return std::to_string(*number);
  return std::get<bool>(value) ? "true" : "false";
}

inline const std::vector<MethodCase>& method_cases() {
  static const std::vector<MethodCase> all = [] {
    std::vector<MethodCase> cases;
    for (const Method& method : methods()) {
      if (method.domain == Method::Domain::contact) continue;  // tests/properties/contact_test.cpp
      std::vector<std::pair<std::string, Section>> choices = {{"", Section()}};
      for (const Parameter& option : method.entry.parameters) {
        std::vector<std::pair<std::string, Section>> extended;
        for (const auto& [name, section] : choices) {
          for (const Section::Value& value : representative_values(option)) {
            Section next = section;
            next.set(option.name, value, {});
            extended.emplace_back(name + (name.empty() ? "" : ",") + option.name + "=" + printed(value), next);
          }
        }
        choices = std::move(extended);
      }
      for (const auto& [name, section] : choices) {
        cases.push_back({method.entry.name + (name.empty() ? "" : "(" + name + ")"), &method, section,
                         method.scheme(section), method.properties(section)});
      }
    }
    return cases;
  }();
  return all;
}

inline const MethodCase& method_case(const std::string& name) {
  for (const MethodCase& candidate : method_cases()) {
    if (candidate.name == name) return candidate;
  }
  throw std::logic_error("no method case " + name);
}

}  // namespace bathline
