// Formulas of positions and velocities.
// Tested by tests/study/section_test.cpp.
#include "model/formula/phase_function.hpp"

#include <fmt/format.h>

#include "formula/program.hpp"

namespace bathline {

FormulaScope phase_scope(const OpenSystem& system) {
  FormulaScope scope;
  for (const char* suffix : {"", "_dot"}) {
    for (const std::string& coordinate : system.coordinate_names()) scope.add_variable(coordinate + suffix);
  }
  scope.add_variable("t");
  return scope;
}

PhaseFunction phase_function(const FormulaScope& scope, Expression expression) {
  const Program program(scope.graph, {&expression, 1}, scope.variables);
  return [program](const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t) {
    Eigen::VectorXd variables = Eigen::VectorXd::Zero(program.variables());
    variables.head(q.size()) = q;
    variables.segment(q.size(), v.size()) = v;
    if (variables.size() > 2 * q.size()) variables[2 * q.size()] = t;
    return program.run(variables.data());
  };
}

std::optional<PhaseFunction> read_phase_function(const Section& section, const std::string& key,
                                                 const OpenSystem& system, Mistakes& mistakes) {
  FormulaScope scope = phase_scope(system);
  const std::optional<Expression> formula = read_formula(section, key, scope, mistakes);
  if (!formula) return std::nullopt;
  Eigen::VectorXd start(2 * system.size() + 1);
  start << system.q0, system.v0, 0.0;
  const std::span<const double> at(start.data(), static_cast<std::size_t>(start.size()));
  if (!check_finite(section, key, "the formula", scope, {&*formula, 1}, at, mistakes)) return std::nullopt;
  try {
    return phase_function(scope, *formula);
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where(key), fmt::format("{}: {}", key, error.what()));
  }
  return std::nullopt;
}

}  // namespace bathline
