// Construction and simplification of expressions.
// Tested by tests/formula/derivative_test.cpp.
#include "formula/expression.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace bathline {

namespace {

using enum Operation;

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::isfinite(value) && std::abs(std::frexp(value, &exponent)) == 0.5 && std::abs(exponent) < 1000;
}

}  // namespace

std::size_t ExpressionGraph::Hash::operator()(const Node& node) const {
  std::uint64_t hash = static_cast<std::uint64_t>(node.operation);
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  };
  mix(static_cast<std::uint32_t>(node.a));
  mix(static_cast<std::uint32_t>(node.b));
  mix(static_cast<std::uint32_t>(node.c));
  mix(std::bit_cast<std::uint64_t>(node.value));
  return static_cast<std::size_t>(hash);
}

bool ExpressionGraph::Node::operator==(const Node& other) const {
  return operation == other.operation && a == other.a && b == other.b && c == other.c &&
         std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(other.value);
}

Expression ExpressionGraph::intern(const Node& node) {
  const auto [entry, is_new] = indices_.try_emplace(node, static_cast<int>(nodes_.size()));
  if (is_new) {
    if (nodes_.size() >= max_nodes) throw FormulaTooLarge();
    nodes_.push_back(node);
  }
  return {entry->second};
}

Expression ExpressionGraph::constant(double value) {
  if (value == 0.0) value = 0.0;  // -0 becomes +0
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  return intern({Operation::constant, -1, -1, -1, value});
}

Expression ExpressionGraph::variable(int number) { return intern({Operation::variable, number}); }

Expression ExpressionGraph::interpolant(TableNumber number, Expression argument) {
  tables_.push_back(std::move(number));
  return apply(Operation::table, constant(*tables_.back()), argument);
}

Expression ExpressionGraph::apply(Operation operation, Expression a, Expression b, Expression c) {
  const int count = operands(operation);
  const Expression all[] = {a, b, c};
  double values[3] = {};
  bool is_foldable = true;
  for (int i = 0; i < count && is_foldable; ++i) {
    is_foldable = is_constant(all[i]);
    if (is_foldable) values[i] = (*this)[all[i]].value;
  }
  const Node node{operation, a.index, count > 1 ? b.index : -1, count > 2 ? c.index : -1};
  if (is_foldable) {
    // Operations without a finite value are not folded, so that messages can show them.
    const double value = evaluate(operation, values[0], values[1], values[2]);
    return std::isfinite(value) ? constant(value) : intern(node);
  }
  switch (operation) {
    case add:
      return simplified_sum(a, b);
    case subtract:
      return simplified_difference(a, b);
    case multiply:
      return simplified_product(a, b);
    case divide:
      return simplified_quotient(a, b);
    case negate:
      return simplified_negation(a);
    case power:
      return simplified_power(a, b);
    case select:
      if (b == c) return b;
      if (is_constant(a)) return (*this)[a].value >= 0.0 ? b : c;
      break;
    default:
      break;
  }
  return intern(node);
}

Expression ExpressionGraph::simplified_sum(Expression a, Expression b) {
  if (is_constant(a, 0.0)) return b;
  if (is_constant(b, 0.0)) return a;
  if (a == b) return apply(multiply, constant(2.0), a);
  const Node left = (*this)[a], right = (*this)[b];
  if (right.operation == negate) return apply(subtract, a, {right.a});
  if (left.operation == negate) return apply(subtract, b, {left.a});
  if (a.index > b.index) std::swap(a, b);
  return intern({add, a.index, b.index});
}

Expression ExpressionGraph::simplified_difference(Expression a, Expression b) {
  if (is_constant(b, 0.0)) return a;
  if (is_constant(a, 0.0)) return apply(negate, b);
  if (a == b) return constant(0.0);
  const Node right = (*this)[b];
  if (right.operation == negate) return apply(add, a, {right.a});
  return intern({subtract, a.index, b.index});
}

Expression ExpressionGraph::simplified_product(Expression a, Expression b) {
  if (is_constant(b)) std::swap(a, b);
  const Node left = (*this)[a], right = (*this)[b];
  if (is_constant(a)) {
    if (left.value == 0.0) return a;
    if (left.value == 1.0) return b;
    if (left.value == -1.0) return apply(negate, b);
    if (right.operation == negate) return apply(multiply, constant(-left.value), {right.a});
    if (right.operation == multiply && is_constant({right.a})) {
      return apply(multiply, apply(multiply, a, {right.a}), {right.b});
    }
    if (right.operation == divide && is_constant({right.b})) {
      return apply(multiply, apply(divide, a, {right.b}), {right.a});
    }
    return intern({multiply, a.index, b.index});
  }
  if (left.operation == negate) return apply(negate, apply(multiply, {left.a}, b));
  if (right.operation == negate) return apply(negate, apply(multiply, a, {right.a}));
  // Constant factors move to the front, where they are folded.
  if (left.operation == multiply && is_constant({left.a})) {
    return apply(multiply, {left.a}, apply(multiply, {left.b}, b));
  }
  if (right.operation == multiply && is_constant({right.a})) {
    return apply(multiply, {right.a}, apply(multiply, a, {right.b}));
  }
  if (a.index > b.index) std::swap(a, b);
  return intern({multiply, a.index, b.index});
}

Expression ExpressionGraph::simplified_quotient(Expression a, Expression b) {
  const Node left = (*this)[a], right = (*this)[b];
  if (is_constant(a, 0.0)) return a;
  if (is_constant(b)) {
    if (is_power_of_two(right.value)) return apply(multiply, constant(1.0 / right.value), a);
    if (left.operation == multiply && is_constant({left.a})) {
      return apply(multiply, apply(divide, {left.a}, b), {left.b});
    }
  }
  if (left.operation == negate) return apply(negate, apply(divide, {left.a}, b));
  return intern({divide, a.index, b.index});
}

Expression ExpressionGraph::simplified_negation(Expression a) {
  const Node node = (*this)[a];
  if (node.operation == negate) return {node.a};
  if (node.operation == subtract) return apply(subtract, {node.b}, {node.a});
  if (node.operation == multiply && is_constant({node.a})) {
    return apply(multiply, constant(-(*this)[Expression{node.a}].value), {node.b});
  }
  return intern({negate, a.index});
}

Expression ExpressionGraph::simplified_power(Expression a, Expression b) {
  if (is_constant(b, 0.0)) return constant(1.0);
  if (is_constant(b, 1.0)) return a;
  if (is_constant(b, 0.5)) return apply(square_root, a);
  if (is_constant(b, -1.0)) return apply(divide, constant(1.0), a);
  return intern({power, a.index, b.index});
}

bool ExpressionGraph::depends(Expression expression, int variable) const {
  for (const Expression part : topological_order({&expression, 1})) {
    if ((*this)[part].operation == Operation::variable && (*this)[part].a == variable) return true;
  }
  return false;
}

bool ExpressionGraph::is_piecewise(Expression expression) const {
  for (const Expression part : topological_order({&expression, 1})) {
    switch ((*this)[part].operation) {
      case select:
      case minimum:
      case maximum:
      case absolute:
      case Operation::sign:
      case step:
      case table:
        return true;
      default:
        break;
    }
  }
  return false;
}

std::vector<Expression> ExpressionGraph::topological_order(std::span<const Expression> roots) const {
  // Depth-first traversal without recursion: the graph of a sum is as deep as the sum is long.
  std::vector<Expression> order;
  std::vector<char> is_done(nodes_.size(), 0);
  std::vector<std::pair<int, int>> stack;  // node, and the number of its next operand
  for (const Expression root : roots) {
    stack.emplace_back(root.index, 0);
    while (!stack.empty()) {
      auto& [index, next] = stack.back();
      const Node& node = nodes_[static_cast<std::size_t>(index)];
      if (is_done[static_cast<std::size_t>(index)] != 0) {
        stack.pop_back();
      } else if (node.operation != Operation::variable && node.a >= 0 && next < operands(node.operation)) {
        const int operand = next == 0 ? node.a : next == 1 ? node.b : node.c;
        ++next;
        stack.emplace_back(operand, 0);
      } else {
        is_done[static_cast<std::size_t>(index)] = 1;
        order.push_back({index});
        stack.pop_back();
      }
    }
  }
  return order;
}

FormulaOutput FormulaOutput::differentiated(ExpressionGraph& graph, int variable) const {
  FormulaOutput result = *this;
  result.expression = graph.derivative(expression, variable);
  (first < 0 ? result.first : result.second) = variable;
  return result;
}

}  // namespace bathline
