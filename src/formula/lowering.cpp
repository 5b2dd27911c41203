// Lowering of powers to products, and of sums of products to fused operations.
// Tested by tests/formula/program_test.cpp.
#include "formula/lowering.hpp"

#include <cmath>

#include "formula/program.hpp"

namespace bathline {

namespace {

using enum Operation;

/// Larger powers are calls of a library function.
constexpr double max_power = 32.0;

/// Whether division by an expression can be replaced by a product, which is faster and can be fused.
bool has_reciprocal(const ExpressionGraph& graph, Expression divisor) {
  return graph.is_constant(divisor) && std::isnormal(graph[divisor].value) && std::isnormal(1.0 / graph[divisor].value);
}

std::size_t index_of(int index) { return static_cast<std::size_t>(index); }

}  // namespace

LoweredExpressions::LoweredExpressions(const ExpressionGraph& source, std::span<const Expression> outputs) {
  std::vector<Expression> mapped(source.size());
  const auto mapped_or_none = [&](int index) { return index < 0 ? Expression{} : mapped[index_of(index)]; };
  for (const Expression part : source.topological_order(outputs)) {
    const ExpressionGraph::Node& node = source[part];
    Expression& target = mapped[index_of(part.index)];
    if (node.operation == Operation::constant) {
      target = products_.constant(node.value);
    } else if (node.operation == Operation::variable) {
      target = products_.variable(node.a);
    } else if (node.operation == power) {
      target = lowered_power(mapped[index_of(node.a)], mapped[index_of(node.b)]);
    } else if (node.operation == divide && has_reciprocal(source, {node.b})) {
      target = products_.apply(multiply, products_.constant(1.0 / source[Expression{node.b}].value),
                               mapped[index_of(node.a)]);
    } else {
      target = products_.apply(node.operation, mapped_or_none(node.a), mapped_or_none(node.b), mapped_or_none(node.c));
    }
  }
  std::vector<Expression> roots;
  for (const Expression output : outputs) roots.push_back(mapped[index_of(output.index)]);

  const std::vector<Expression> parts = products_.topological_order(roots);
  std::vector<int> uses(products_.size(), 0);
  for (const Expression root : roots) ++uses[index_of(root.index)];
  for (const Expression part : parts) {
    const ExpressionGraph::Node& node = products_[part];
    if (node.operation == Operation::variable) continue;
    for (const int operand : {node.a, node.b, node.c}) {
      if (operand >= 0) ++uses[index_of(operand)];
    }
  }
  mapped.assign(products_.size(), {});
  for (const Expression part : parts) mapped[index_of(part.index)] = fuse(products_[part], mapped, uses);
  for (const Expression root : roots) outputs_.push_back(mapped[index_of(root.index)]);
}

Expression LoweredExpressions::integer_power(Expression base, int exponent) {
  // By squaring, so that x^4 reuses x^2.
  if (exponent == 0) return products_.constant(1.0);
  if (exponent == 1) return base;
  const Expression half = integer_power(base, exponent / 2);
  const Expression square = products_.apply(multiply, half, half);
  return exponent % 2 == 0 ? square : products_.apply(multiply, square, base);
}

Expression LoweredExpressions::lowered_power(Expression base, Expression exponent) {
  const double n = products_.is_constant(exponent) ? products_[exponent].value : NAN;
  const bool is_small = std::abs(n) <= max_power && 2.0 * n == std::floor(2.0 * n);
  if (!is_small) return products_.apply(power, base, exponent);
  Expression result = integer_power(base, static_cast<int>(std::floor(std::abs(n))));
  if (n != std::floor(n)) result = products_.apply(multiply, result, products_.apply(square_root, base));
  return n < 0.0 ? products_.apply(divide, products_.constant(1.0), result) : result;
}

Expression LoweredExpressions::fuse(const ExpressionGraph::Node& node, const std::vector<Expression>& mapped,
                                    const std::vector<int>& uses) {
  const auto fused = [&](Operation operation, int a, int b, int c = -1) {
    const auto operand = [&](int index) { return index < 0 ? Expression{} : mapped[index_of(index)]; };
    return fused_.apply(operation, operand(a), operand(b), operand(c));
  };
  const auto single_product = [&](int index) {
    return products_[Expression{index}].operation == multiply && uses[index_of(index)] == 1;
  };
  const auto factor = [&](int index) { return products_[Expression{index}]; };
  if (node.operation == Operation::constant) return fused_.constant(node.value);
  if (node.operation == Operation::variable) return fused_.variable(node.a);
  if (node.operation == add && single_product(node.b)) {
    return fused(multiply_add, factor(node.b).a, factor(node.b).b, node.a);
  }
  if (node.operation == add && single_product(node.a)) {
    return fused(multiply_add, factor(node.a).a, factor(node.a).b, node.b);
  }
  if (node.operation == subtract && single_product(node.b)) {
    return fused(subtract_product, factor(node.b).a, factor(node.b).b, node.a);
  }
  if (node.operation == subtract && single_product(node.a)) {
    return fused(multiply_subtract, factor(node.a).a, factor(node.a).b, node.b);
  }
  return fused(node.operation, node.a, node.b, node.c);
}

FormulaBytecode lowered_bytecode(const ExpressionGraph& graph, std::span<const FormulaOutput> outputs, int variables) {
  std::vector<Expression> expressions;
  for (const FormulaOutput& output : outputs) expressions.push_back(output.expression);
  const LoweredExpressions lowered(graph, expressions);
  FormulaBytecode bytecode = bytecode_of(lowered.graph(), lowered.outputs(), variables);
  if (bytecode.instructions.size() > FormulaProgram::max_instructions) throw FormulaTooLarge();
  return bytecode;
}

}  // namespace bathline
