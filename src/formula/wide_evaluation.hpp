// Formulas and their derivatives where double arithmetic yields no finite number.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "formula/bytecode.hpp"
#include "formula/expression.hpp"

namespace bathline {

/// Evaluates the formulas themselves in wide numbers and differentiates them on the way, by the chain rule for values:
/// finite although an intermediate result or a term of the symbolic derivative is not. So are 1/cosh(x)^2 far away,
/// whose denominator overflows, and r^3 at r = sqrt(x^2 + y^2) = 0, where r has no derivative. A function that vanishes
/// in a neighbourhood, as `step` and its products do, removes every factor beside it.
class WideEvaluation {
 public:
  WideEvaluation(const ExpressionGraph& graph, std::span<const FormulaOutput> outputs, int variables);
  /// The value of one of the outputs; not finite where the formula or its derivative has none.
  double output(std::size_t index, const double* variables) const;
  /// The first operation whose result is not finite although its operands are, such as "sqrt(-1)", among those on which
  /// the formula of an output depends; empty if there is none.
  std::string undefined_part(std::size_t index, const double* variables) const;

 private:
  FormulaBytecode bytecode_;
  std::vector<FormulaOutput> outputs_;
};

}  // namespace bathline
