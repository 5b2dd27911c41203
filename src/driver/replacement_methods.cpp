// Methods that a message about an unsupported one names.
// Tested by tests/driver/experiment_test.cpp.
#include "driver/replacement_methods.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "driver/feasibility.hpp"
#include "recipe/describe.hpp"

namespace bathline {

namespace {

/// A method with its default options, or with those of an alias, in the place of a case's own.
struct Alternative {
  std::string name;
  const Method* method;
  Section integrator;
};

Section::Value setting_value(const std::string& text, ValueType type) {
  if (type == ValueType::integer) return std::stol(text);
  if (type == ValueType::number) return std::stod(text);
  return text.substr(1, text.size() - 2);
}

std::vector<Alternative> alternatives_to(const Case& this_case, const Catalogue<Method>& methods) {
  std::vector<Alternative> alternatives, aliases;
  for (const Method& method : methods) {
    if (method.domain == Method::Domain::contact) continue;
    const Location where = this_case.options.where("method");
    const Section defaults = default_section(method.entry);
    Section integrator = this_case.options;
    integrator.set("method", method.entry.name, where);
    for (const std::string& key : defaults.keys()) integrator.set(key, defaults.value(key), where);
    if (&method != this_case.method) alternatives.push_back({method.entry.name, &method, integrator});
    const auto alias = std::find_if(method.entry.aliases.begin(), method.entry.aliases.end(),
                                    [](const Alias& candidate) { return !candidate.settings.empty(); });
    if (alias == method.entry.aliases.end()) continue;
    for (const auto& [key, text] : alias->settings) {
      for (const Parameter& parameter : method.entry.parameters) {
        if (parameter.name == key) integrator.set(key, setting_value(text, parameter.type), where);
      }
    }
    aliases.push_back({alias->name, &method, integrator});
  }
  alternatives.insert(alternatives.end(), aliases.begin(), aliases.end());
  return alternatives;
}

/// Whether a recipe whose only integrator is `integrator` would be valid. @note Collective.
bool is_valid_with(const Recipe& recipe, const Section& integrator, const Program& program) {
  Recipe trial = recipe;
  trial.integrators = {integrator};
  Mistakes mistakes;
  const Experiment experiment(trial, program, mistakes);
  if (mistakes.empty()) Feasibility(trial, experiment, mistakes, Feasibility::Advice::none);
  return mistakes.empty();
}

}  // namespace

std::string replacement_methods(const Recipe& recipe, const Experiment& experiment, const Case& this_case) {
  constexpr std::size_t max_names = 3;
  const auto is_valid = [&](const Section& integrator) {
    return is_valid_with(recipe, integrator, experiment.program());
  };
  std::vector<std::string> names;
  std::vector<ExplicitScheme> splittings;  // several methods may be one
  for (const auto& [name, method, integrator] : alternatives_to(this_case, experiment.catalogues().integrators)) {
    bool is_supported = false;
    // The names are captured by initialisers, since clang before 16 captures no structured bindings.
    completes([&, &method = method, &integrator = integrator] {
      // Methods of the first order are no replacement, and not every problem has an exact flow.
      is_supported = method->properties(integrator).order >= 2 && is_valid(integrator);
      if (!is_supported) return;
      const Scheme scheme = this_case.noise ? method->langevin_scheme(integrator) : method->scheme(integrator);
      const auto* splitting = std::get_if<ExplicitScheme>(&scheme);
      if (splitting == nullptr) return;
      is_supported = std::find(splittings.begin(), splittings.end(), *splitting) == splittings.end();
      splittings.push_back(*splitting);
    });
    if (is_supported) names.push_back("`" + name + "`");
    if (names.size() == max_names) break;
  }
  std::string advice;
  if (!names.empty()) {
    const std::string last = names.back();
    names.pop_back();
    advice = fmt::format("; use {}{}{}", fmt::join(names, ", "), names.empty() ? "" : " or ", last);
  }
  Section silent = this_case.options;
  silent.set("noise", false, silent.where("method"));
  if (this_case.noise && is_valid(silent)) advice += "; `noise = false` switches the noise off";
  return advice;
}

}  // namespace bathline
