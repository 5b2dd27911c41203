// Lowering of expressions to the operations that are executed.
#pragma once

#include <span>
#include <vector>

#include "formula/bytecode.hpp"
#include "formula/expression.hpp"

namespace bathline {

/// The same expressions in a graph of their own in which small whole and half powers are products and square roots, and
/// a product whose only use is in a sum is fused with it. Powers of constants and calls stay.
class LoweredExpressions {
 public:
  LoweredExpressions(const ExpressionGraph& source, std::span<const Expression> outputs);
  const ExpressionGraph& graph() const { return fused_; }
  const std::vector<Expression>& outputs() const { return outputs_; }

 private:
  Expression integer_power(Expression base, int exponent);
  Expression lowered_power(Expression base, Expression exponent);
  Expression fuse(const ExpressionGraph::Node& node, const std::vector<Expression>& mapped,
                  const std::vector<int>& uses);

  ExpressionGraph products_, fused_;
  std::vector<Expression> outputs_;
};

/// The bytecode of the lowered expressions. Throws FormulaTooLarge where a program may not be so long.
FormulaBytecode lowered_bytecode(const ExpressionGraph& graph, std::span<const FormulaOutput> outputs, int variables);

}  // namespace bathline
