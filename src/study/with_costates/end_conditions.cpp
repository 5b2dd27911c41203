// Values and formulas at the end of a run.
// Tested by tests/costates/optimal_control_test.cpp.
#include "study/with_costates/end_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/printable_text.hpp"
#include "text/spelling.hpp"

namespace bathline {

using Eigen::VectorXd;

EndConditions EndConditions::read(const Section& study, const CostVariables& variables, const ParticleSystem& system,
                                  Mistakes& mistakes) {
  EndConditions conditions;
  if (study.has("end")) {
    std::vector<std::string> names = variables.names();
    names.resize(static_cast<std::size_t>(variables.time()));
    const Section& table = study.table("end");
    for (const std::string& key : table.keys()) {
      const auto name = std::find(names.begin(), names.end(), key);
      if (name == names.end()) {
        mistakes.add(table.where(key), fmt::format("end: `{}` is no coordinate and no velocity{}", printable(key),
                                                   spelling_advice(key, names, '`')));
      } else {
        conditions.values_.push_back({key, name - names.begin(), table.number(key)});
      }
    }
  }
  if (!study.has("conditions")) return conditions;
  for (std::size_t i = 0; i < study.texts("conditions").size(); ++i) {
    if (auto formula = CostFormula::read(study, "conditions", variables, system, mistakes, i)) {
      conditions.formulas_.push_back(std::move(*formula));
    }
  }
  return conditions;
}

std::vector<std::string> EndConditions::names() const {
  std::vector<std::string> names;
  for (const Value& value : values_) names.push_back(value.name);
  for (std::size_t i = 0; i < formulas_.size(); ++i) names.push_back(fmt::format("{}", i));
  return names;
}

bool EndConditions::depends_on_time() const {
  return std::any_of(formulas_.begin(), formulas_.end(), [](const auto& formula) { return formula.depends_on_time(); });
}

VectorXd EndConditions::errors(const VectorXd& variables) const {
  VectorXd errors(size());
  Eigen::Index next = 0;
  for (const Value& value : values_) errors[next++] = variables[value.variable] - value.value;
  for (const CostFormula& formula : formulas_) errors[next++] = formula.value(variables);
  return errors;
}

VectorXd EndConditions::pull_back(const VectorXd& variables, const VectorXd& weights) const {
  VectorXd slopes = VectorXd::Zero(variables.size()), of_formula;
  Eigen::Index next = 0;
  for (const Value& value : values_) slopes[value.variable] += weights[next++];
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
