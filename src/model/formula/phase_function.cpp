// Reading formulas of positions, velocities and time.
// Tested by tests/study/section_test.cpp.
#include "model/formula/phase_function.hpp"

#include <fmt/format.h>

#include "formula/program.hpp"

namespace bathline {

FormulaScope phase_scope(const ParticleSystem& system) {
  FormulaScope scope;
  for (const char* suffix : {"", "_dot"}) {
    for (const std::string& coordinate : system.coordinate_names()) scope.add_variable(coordinate + suffix);
  }
  scope.add_variable("t");
  return scope;
}

PhaseFunction phase_function(const FormulaScope& scope, Expression expression) {
  const FormulaProgram program(scope.graph, {&expression, 1}, scope.variables);
  return [program](const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t) {
    Eigen::VectorXd variables = Eigen::VectorXd::Zero(program.variables());
    variables.head(q.size()) = q;
    variables.segment(q.size(), v.size()) = v;
    if (variables.size() > 2 * q.size()) variables[2 * q.size()] = t;
    return program.run(variables.data());
  };
}

namespace {

/// The compiled formula `key` of a section, which must be finite for these values of the scope's variables.
std::optional<FormulaProgram> compile_formula(const Section& section, const std::string& key, FormulaScope& scope,
                                              std::span<const double> values, Expression& expression,
                                              Mistakes& mistakes) {
  const std::optional<Expression> formula = read_formula(section, key, scope, mistakes);
  if (!formula) return std::nullopt;
  expression = *formula;
  if (!check_finite(section, key, "the formula", scope, {expression}, values, mistakes)) return std::nullopt;
  try {
    return FormulaProgram(scope.graph, {&expression, 1}, scope.variables);
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where(key), fmt::format("{}: {}", key, error.what()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::function<double(double)>> read_function_of(const Section& section, const std::string& key,
                                                              const std::string& name, double point,
                                                              Mistakes& mistakes) {
  FormulaScope scope;
  scope.add_variable(name);
  Expression formula;
  const std::optional<FormulaProgram> program = compile_formula(section, key, scope, {&point, 1}, formula, mistakes);
  if (!program) return std::nullopt;
  return [program = *program](double value) { return program.run(&value); };
}

std::optional<ExtendedPhaseFunction> read_extended_phase_function(const Section& section, const std::string& key,
                                                                  const ParticleSystem& system,
                                                                  std::span<const std::string> more,
                                                                  Mistakes& mistakes) {
  FormulaScope scope = phase_scope(system);
  for (const std::string& name : more) {
    if (scope.names.find(name) == scope.names.end()) {
      scope.add_variable(name);
    } else {
      ++scope.variables;
    }
  }
  Eigen::VectorXd start = Eigen::VectorXd::Zero(scope.variables);
  start.head(2 * system.size()) << system.q0, system.v0;
  const std::span<const double> values(start.data(), static_cast<std::size_t>(start.size()));
  Expression formula;
  const std::optional<FormulaProgram> program = compile_formula(section, key, scope, values, formula, mistakes);
  if (!program) return std::nullopt;
  ExtendedPhaseFunction function{
      [program = *program](const Eigen::VectorXd& variables) { return program.run(variables.data()); }, {}};
  const int first = scope.variables - static_cast<int>(more.size());
  for (int variable = first; variable < scope.variables; ++variable) {
    function.uses.push_back(scope.graph.depends(formula, variable));
  }
  return function;
}

std::optional<PhaseFunction> read_phase_function(const Section& section, const std::string& key,
                                                 const ParticleSystem& system, Mistakes& mistakes) {
  const std::optional<ExtendedPhaseFunction> function =
      read_extended_phase_function(section, key, system, {}, mistakes);
  if (!function) return std::nullopt;
  return [value = function->value](const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t) {
    Eigen::VectorXd variables(q.size() + v.size() + 1);
    variables << q, v, t;
    return value(variables);
  };
}

}  // namespace bathline
