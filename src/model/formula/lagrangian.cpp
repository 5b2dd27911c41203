// Compiled formulas of a Lagrangian and its derivatives.
// Tested by tests/steppers/lagrangian_test.cpp.
#include "model/formula/lagrangian.hpp"

namespace bathline {

std::vector<FormulaOutput> lagrangian_hessian_of(ExpressionGraph& graph, Expression value, int size) {
  const std::size_t count = 2 * static_cast<std::size_t>(size) + 2, time = count - 2;
  const std::vector<FormulaOutput> all = hessian_of(graph, value, 0, static_cast<int>(count));
  std::vector<FormulaOutput> without_time;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i / count != time && i % count != time) without_time.push_back(all[i]);
  }
  return without_time;
}

FormulaLagrangian::FormulaLagrangian(ExpressionGraph& graph, Expression value, int size)
    : value_(graph, {&value, 1}, 2 * size + 2),
      gradient_(graph, gradient_of(graph, value, 0, 2 * size + 2), 2 * size + 2),
      hessian_(graph, lagrangian_hessian_of(graph, value, size), 2 * size + 2),
      momentum_rates_(graph, gradient_of(graph, FormulaOutput(value).differentiated(graph, 2 * size), size, size),
                      2 * size + 2),
      kinks_(graph, {&value, 1}, 2 * size) {
  for (int variable = 0; variable < 2 * size + 2; ++variable)
    depends_on_variable_.push_back(graph.depends(value, variable));
}

}  // namespace bathline
