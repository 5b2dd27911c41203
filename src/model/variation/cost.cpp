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

/// All numbers of a matrix.
template <class Matrix>
auto numbers_of(Matrix& matrix) {
  return std::span(matrix.data(), static_cast<std::size_t>(matrix.size()));
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
  Eigen::VectorXd all(size());
  all << q, v, t, controls,
      Eigen::Map<const Eigen::VectorXd>(parameter_values_.data(), static_cast<Eigen::Index>(parameter_values_.size()));
  return all;
}

void CostVariables::set(const Eigen::MatrixXd& q, const Eigen::MatrixXd& v, const Eigen::VectorXd& t,
                        const ControlledDrive* controls_there, Eigen::MatrixXd& variables) const {
  variables.resize(t.size(), size());
  variables.leftCols(dofs_) = q.transpose();
  variables.middleCols(dofs_, dofs_) = v.transpose();
  variables.col(time()) = t;
  for (Eigen::Index i = 0; controls_there != nullptr && i < t.size(); ++i) {
    variables.row(i).segment(controls(), parameters() - controls()) = controls_there->values(t[i]).transpose();
  }
  for (std::size_t p = 0; p < parameter_values_.size(); ++p) {
    variables.col(parameters() + static_cast<Eigen::Index>(p)).setConstant(parameter_values_[p]);
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
    const FormulaOutput output(*formula);
    FormulaBatch value(scope.graph, {&output, 1}, scope.variables);
    FormulaBatch gradient(scope.graph, gradient_of(scope.graph, *formula, 0, scope.variables), scope.variables);
    return CostFormula(std::move(value), std::move(gradient),
                       scope.graph.depends(*formula, static_cast<int>(variables.time())));
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where(key), fmt::format("{}: {}", key, error.what()));
  }
  return std::nullopt;
}

void CostFormula::values(const Eigen::MatrixXd& variables, Eigen::VectorXd& values) const {
  values.resize(variables.rows());
  value_.run(numbers_of(variables), numbers_of(values));
}

void CostFormula::gradients(const Eigen::MatrixXd& variables, Eigen::MatrixXd& gradients) const {
  gradients.resizeLike(variables);
  gradient_.run(numbers_of(variables), numbers_of(gradients));
}

ParameterForces::ParameterForces(const Section& section, const CostVariables& variables, Mistakes& mistakes)
    : parameters_(std::ssize(variables.parameter_names())), dofs_(variables.velocities()) {
  const int dofs = static_cast<int>(dofs_), first = static_cast<int>(variables.parameters());
  const int count = static_cast<int>(parameters_);
  FormulaScope scope = scope_of(variables);
  const auto read = [&](const std::string& key, std::size_t index) {
    const std::optional<Expression> formula = read_formula(section, key, scope, mistakes, index);
    if (!formula) throw InvalidValue();
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

void ParameterForces::by_parameter(const Eigen::MatrixXd& variables, Eigen::MatrixXd& by_parameter) const {
  by_parameter.setZero(variables.rows(), parameters_ * dofs_);
  values_.resizeLike(by_parameter);
  for (std::size_t part = 0; part < derivatives_.size(); ++part) {
    derivatives_[part].run(numbers_of(variables), numbers_of(values_));
    by_parameter += signs_[part] * values_;
  }
}

void ParameterForces::pull_back(const Eigen::MatrixXd& variables, const Eigen::MatrixXd& by_force,
                                Eigen::VectorXd& slopes) const {
  by_parameter(variables, sum_);
  for (Eigen::Index p = 0; p < parameters_; ++p) {
    double slope = slopes[p];
    for (Eigen::Index state = variables.rows(); state-- > 0;) {
      for (Eigen::Index i = 0; i < dofs_; ++i) slope += by_force(i, state) * sum_(state, i * parameters_ + p);
    }
    slopes[p] = slope;
  }
}

}  // namespace bathline
