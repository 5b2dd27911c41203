// Values and formulas at the end of a run.
// Tested by tests/costates/optimal_control_test.cpp.
#include "study/with_costates/end_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/printable_text.hpp"
#include "text/spelling.hpp"

namespace bathline {

using Eigen::VectorXd;

std::optional<Eigen::Index> state_variable(const std::string& name, const CostVariables& variables, const char* key,
                                           const Location& where, Mistakes& mistakes) {
  std::vector<std::string> names = variables.names();
  names.resize(static_cast<std::size_t>(variables.time()));
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return found - names.begin();
  mistakes.add(where, fmt::format("{}: `{}` is no coordinate and no velocity{}", key, printable(name),
                                  spelling_advice(name, names, '"')));
  return std::nullopt;
}

EndConditions EndConditions::read(const Section& study, const CostVariables& variables, const ParticleSystem& system,
                                  Mistakes& mistakes) {
  EndConditions conditions;
  const auto add = [&](const Section& section, const char* key, std::size_t index, const std::string& name) {
    auto formula = CostFormula::read(section, key, variables, system, mistakes, index);
    if (!formula) return;
    conditions.names_.push_back(name);
    conditions.formulas_.push_back(std::move(*formula));
  };
  if (study.has("end")) {
    const Section& table = study.table("end");
    for (const std::string& key : table.keys()) {
      if (!state_variable(key, variables, "end", table.where(key), mistakes)) continue;
      Section difference = table;
      difference.set("end", fmt::format("{} - ({:.17g})", key, table.number(key)), table.where(key));
      add(difference, "end", 0, key);
    }
  }
  const std::size_t count = study.has("conditions") ? study.texts("conditions").size() : 0;
  for (std::size_t i = 0; i < count; ++i) add(study, "conditions", i, fmt::format("{}", i));
  return conditions;
}

bool EndConditions::depends_on_time() const {
  return std::any_of(formulas_.begin(), formulas_.end(), [](const auto& formula) { return formula.depends_on_time(); });
}

VectorXd EndConditions::errors(const VectorXd& variables) const {
  VectorXd errors(size());
  Eigen::Index next = 0;
  for (const CostFormula& formula : formulas_) errors[next++] = formula.value(variables);
  return errors;
}

VectorXd EndConditions::pull_back(const VectorXd& variables, const VectorXd& weights) const {
  VectorXd slopes = VectorXd::Zero(variables.size()), of_formula;
  Eigen::Index next = 0;
  for (const CostFormula& formula : formulas_) {
    formula.gradient(variables, of_formula);
    slopes += weights[next++] * of_formula;
  }
  return slopes;
}

std::vector<Parameter> end_condition_parameters() {
  return {
      {.name = "end",
       .type = ValueType::table,
       .doc = "values of coordinates and velocities at the end, such as { x = 1.0, x_dot = 0.0 }",
       .members = {optional(wildcard_key, ValueType::number, "", "its value at the end")}},
      optional("conditions", ValueType::texts, "",
               "formulas that are zero at the end, such as [\"x^2 + y^2 - 4\"], in coordinates, velocities, `t` and "
               "the `parameters` of the system")};
}

}  // namespace bathline
