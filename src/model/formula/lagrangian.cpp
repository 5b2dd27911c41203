// Programs for a Lagrangian and its derivatives.
// Tested by tests/advance/lagrangian_test.cpp.
#include "model/formula/lagrangian.hpp"

namespace bathline {

FormulaLagrangian::FormulaLagrangian(ExpressionGraph& graph, Expression value, int size)
    : value_(graph, {&value, 1}, 2 * size + 1),
      slopes_(graph, gradient_of(graph, value, 0, 2 * size + 1), 2 * size + 1),
      curvatures_(graph, hessian_of(graph, value, 0, 2 * size), 2 * size + 1),
      depends_on_time_(graph.depends(value, 2 * size)) {}

}  // namespace bathline
