// Compiled costs, and compiled derivatives by parameters.
// Tested by tests/costates/gradient_test.cpp.
#include "model/variation/cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/variation/control.hpp"
#include "model/formula/scope.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// A scope of these variables.
FormulaScope scope_of(const CostVariables& variables) {
  FormulaScope scope;
  for (const std::string& name : variables.names()) scope.add_variable(name);
  return scope;
}

bool is_smooth(const Section& section, const std::string& key, const FormulaScope& scope, Expression expression,
               Mistakes& mistakes, std::size_t index = 0) {
  if (!scope.graph.is_piecewise(expression)) return true;
  mistakes.add(
      section.where_in_text(key, 0, index),
      fmt::format("{}: a formula with `min`, `max`, `abs`, `step` and the like is not differentiable where its "
                  "pieces meet: gradients need smooth formulas",
                  key));
  return false;
}

}  // namespace

CostVariables::CostVariables(const ParticleSystem& system, const Section& section) : dofs_(system.size()) {
  for (const char* suffix : {"", "_dot"}) {
    for (const std::string& coordinate : system.coordinate_names()) names_.push_back(coordinate + suffix);
  }
  names_.emplace_back("t");
  if (const auto controls = controls_of(system)) {
    for (const Control& control : controls->controls()) control_names_.push_back(control.name);
  }
  if (!section.has("parameters")) return;
  const Section& parameters = section.table("parameters");
  for (const std::string& name : parameters.keys()) {
    parameter_names_.push_back(name);
    parameter_values_.push_back(parameters.number(name));
  }
}

std::vector<std::string> CostVariables::names() const {
  std::vector<std::string> all = names_;
  all.insert(all.end(), control_names_.begin(), control_names_.end());
  all.insert(all.end(), parameter_names_.begin(), parameter_names_.end());
  return all;
}

Eigen::VectorXd CostVariables::at(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t,
                                  const Eigen::VectorXd& controls) const {
  Eigen::MatrixXd all;
  set(q, v, Eigen::VectorXd::Constant(1, t), controls, all);
  return all;
}

void CostVariables::set(const Eigen::MatrixXd& q, const Eigen::MatrixXd& v, const Eigen::VectorXd& t,
                        const Eigen::MatrixXd& controls_there, Eigen::MatrixXd& variables) const {
  variables.resize(size(), t.size());
  variables.topRows(dofs_) = q;
  variables.middleRows(dofs_, dofs_) = v;
  variables.row(time()) = t.transpose();
  variables.middleRows(controls(), controls_there.rows()) = controls_there;
  for (std::size_t p = 0; p < parameter_values_.size(); ++p) {
    variables.row(parameters() + static_cast<Eigen::Index>(p)).setConstant(parameter_values_[p]);
  }
}

std::optional<CostFormula> CostFormula::read(const Section& section, const std::string& key,
                                             const CostVariables& variables, const ParticleSystem& system,
                                             Mistakes& mistakes, std::size_t index, bool must_be_smooth) {
  FormulaScope scope = scope_of(variables);
  const std::optional<Expression> formula = read_formula(section, key, scope, mistakes, index);
  if (!formula) return std::nullopt;
  if (must_be_smooth && !is_smooth(section, key, scope, *formula, mistakes, index)) return std::nullopt;
  const auto drive = controls_of(system);
  const Eigen::VectorXd controls = drive ? drive->values(0.0) : Eigen::VectorXd();
  const Eigen::VectorXd start = variables.at(system.q0, system.v0, 0.0, controls);
  const std::span<const double> values(start.data(), static_cast<std::size_t>(start.size()));
  if (!check_finite(section, key, "the formula", scope, {*formula}, values, mistakes, index)) return std::nullopt;
  try {
    FormulaProgram value(scope.graph, {&*formula, 1}, scope.variables);
    FormulaProgram gradient(scope.graph, gradient_of(scope.graph, *formula, 0, scope.variables), scope.variables);
    return CostFormula(std::move(value), std::move(gradient),
                       scope.graph.depends(*formula, static_cast<int>(variables.time())));
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where(key), fmt::format("{}: {}", key, error.what()));
  }
  return std::nullopt;
}

void CostFormula::gradients(const Eigen::MatrixXd& variables, Eigen::MatrixXd& gradients) const {
  gradients.resize(variables.rows(), variables.cols());
  for (Eigen::Index i = 0; i < variables.cols(); ++i) gradient_.run(variables.col(i).data(), gradients.col(i).data());
}

ParameterForces::ParameterForces(const Section& section, const CostVariables& variables, Mistakes& mistakes) {
  const int dofs = static_cast<int>(variables.velocities());
  const int first = static_cast<int>(variables.parameters());
  const int count = static_cast<int>(variables.parameter_names().size());
  FormulaScope scope = scope_of(variables);
  const auto read = [&](const std::string& key, std::size_t index) {
    const std::optional<Expression> formula = read_formula(section, key, scope, mistakes, index);
    if (!formula) throw UnreadableValue();
    is_smooth(section, key, scope, *formula, mistakes, index);
    depends_on_time_ = depends_on_time_ || scope.graph.depends(*formula, 2 * dofs);
    return *formula;
  };
  const auto add = [&](const std::vector<FormulaOutput>& forces, double sign) {
    std::vector<FormulaOutput> derivatives;
    for (const FormulaOutput& force : forces) {
      for (int p = first; p < first + count; ++p) derivatives.push_back(force.differentiated(scope.graph, p));
    }
    if (derivatives.empty()) return;
    derivatives_.emplace_back(scope.graph, derivatives, scope.variables);
    signs_.push_back(sign);
  };
  if (section.has("V") && section.holds<std::string>("V")) {
    add(gradient_of(scope.graph, read("V", 0), 0, dofs), -1.0);
  }
  for (const char* key : {"force", "drive"}) {
    if (!section.holds<std::vector<std::string>>(key)) continue;
    std::vector<FormulaOutput> forces;
    for (std::size_t i = 0; i < section.texts(key).size(); ++i) forces.emplace_back(read(key, i));
    add(forces, 1.0);
  }
  if (section.has("drive_file")) depends_on_time_ = true;
}

void ParameterForces::pull_back(const Eigen::MatrixXd& variables, const Eigen::MatrixXd& by_force,
                                Eigen::VectorXd& slopes) const {
  for (Eigen::Index state = variables.cols(); state-- > 0;) {
    for (std::size_t part = 0; part < derivatives_.size(); ++part) {
      values_.resize(static_cast<std::size_t>(derivatives_[part].outputs()));
      derivatives_[part].run(variables.col(state).data(), values_.data());
      const double* by_parameter = values_.data();
      for (Eigen::Index i = 0; i < by_force.rows(); ++i) {
        const double factor = signs_[part] * by_force(i, state);
        for (double& slope : slopes) slope += factor * *by_parameter++;
      }
    }
  }
}

}  // namespace bathline
