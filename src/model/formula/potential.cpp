// Compiled formulas of a potential and its derivatives.
// Tested by tests/model/systems/formula_system_test.cpp.
#include "model/formula/potential.hpp"

#include <algorithm>

namespace bathline {

bool is_quadratic_form(ExpressionGraph& graph, Expression value, int size) {
  if (graph.is_piecewise(value)) return false;
  const std::vector<FormulaOutput> second = hessian_of(graph, value, 0, size);
  const auto is_number = [&](const FormulaOutput& output) { return graph.is_constant(output.expression); };
  if (!std::all_of(second.begin(), second.end(), is_number)) return false;
  const std::vector<double> origin(static_cast<std::size_t>(size), 0.0);
  std::vector<double> gradient(origin.size());
  FormulaProgram(graph, gradient_of(graph, value, 0, size), size).run(origin.data(), gradient.data());
  return std::all_of(gradient.begin(), gradient.end(), [](double component) { return component == 0.0; });
}

FormulaPotential::FormulaPotential(ExpressionGraph& graph, Expression value, int size)
    : value_(graph, {&value, 1}, size),
      gradient_(graph, gradient_of(graph, value, 0, size), size),
      hessian_(graph, hessian_of(graph, value, 0, size), size),
      is_quadratic_(is_quadratic_form(graph, value, size)) {}

void FormulaPotential::hessians(const Eigen::MatrixXd& q, Eigen::MatrixXd& hessians) const {
  const Eigen::MatrixXd points = q.transpose();
  Eigen::MatrixXd values(q.cols(), q.rows() * q.rows());
  const auto count = [](const Eigen::MatrixXd& matrix) { return static_cast<std::size_t>(matrix.size()); };
  hessian_.run({points.data(), count(points)}, {values.data(), count(values)});
  hessians.resize(q.rows(), q.rows() * q.cols());
  Eigen::Map<Eigen::MatrixXd>(hessians.data(), values.cols(), values.rows()) = values.transpose();
}

}  // namespace bathline
