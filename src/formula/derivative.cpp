// Exact derivatives of expressions.
#include "formula/expression.hpp"
#include "formula/table.hpp"

namespace bathline {

using enum Operation;

Expression ExpressionGraph::derivative(Expression expression, int variable) {
  const auto number = static_cast<std::size_t>(variable);
  if (derivatives_.size() <= number) derivatives_.resize(number + 1);
  std::vector<int>& cached = derivatives_[number];
  for (const Expression part : topological_order({&expression, 1})) {
    const auto index = static_cast<std::size_t>(part.index);
    if (cached.size() < nodes_.size()) cached.resize(nodes_.size(), -1);
    if (cached[index] >= 0) continue;
    const Node node = nodes_[index];
    Expression result = constant(0.0);
    if (node.operation == Operation::variable) {
      if (node.a == variable) result = constant(1.0);
    } else if (node.operation != Operation::constant) {
      const auto derivative_of = [&](int operand) {
        return operand < 0 ? constant(0.0) : Expression{cached[static_cast<std::size_t>(operand)]};
      };
      const Expression da = derivative_of(node.a), db = derivative_of(node.b), dc = derivative_of(node.c);
      if (!is_constant(da, 0.0) || !is_constant(db, 0.0) || !is_constant(dc, 0.0))
        result = chain_rule(part, da, db, dc);
    }
    cached[index] = result.index;
  }
  return {cached[static_cast<std::size_t>(expression.index)]};
}

Expression ExpressionGraph::chain_rule(Expression expression, Expression da, Expression db, Expression dc) {
  const Node node = (*this)[expression];
  const Expression a{node.a}, b{node.b};
  const auto number = [&](double value) { return constant(value); };
  const auto sum = [&](Expression x, Expression y) { return apply(add, x, y); };
  const auto difference = [&](Expression x, Expression y) { return apply(subtract, x, y); };
  const auto product = [&](Expression x, Expression y) { return apply(multiply, x, y); };
  const auto quotient = [&](Expression x, Expression y) { return apply(divide, x, y); };
  const auto minus = [&](Expression x) { return apply(negate, x); };
  const auto square = [&](Expression x) { return apply(power, x, number(2.0)); };
  switch (node.operation) {
    case add:
      return sum(da, db);
    case subtract:
      return difference(da, db);
    case multiply:
      return sum(product(da, b), product(a, db));
    case divide:
      return quotient(difference(da, product(expression, db)), b);
    case negate:
      return minus(da);
    case multiply_add:
      return sum(sum(product(da, b), product(a, db)), dc);
    case multiply_subtract:
      return difference(sum(product(da, b), product(a, db)), dc);
    case subtract_product:
      return difference(dc, sum(product(da, b), product(a, db)));
    case power: {
      const Expression lower = apply(power, a, difference(b, number(1.0)));
      const Expression by_base = product(product(b, lower), da);
      // The logarithm of the base is needed only if the exponent varies.
      if (is_constant(db, 0.0)) return by_base;
      return sum(by_base, product(product(expression, apply(logarithm, a)), db));
    }
    case select:
      return apply(select, a, db, dc);
    case minimum:
      return apply(select, difference(b, a), da, db);
    case maximum:
      return apply(select, difference(a, b), da, db);
    case absolute:
      return product(apply(Operation::sign, a), da);
    case square_root:
      return quotient(product(number(0.5), da), expression);
    case exponential:
      return product(expression, da);
    case logarithm:
      return quotient(da, a);
    case sine:
      return product(apply(cosine, a), da);
    case cosine:
      return minus(product(apply(sine, a), da));
    case tangent:
      return product(sum(number(1.0), square(expression)), da);
    case arcsine:
    case arccosine: {
      // (1 - a) (1 + a) does not cancel where 1 - a^2 would.
      const Expression root = apply(square_root, product(difference(number(1.0), a), sum(number(1.0), a)));
      return quotient(node.operation == arcsine ? da : minus(da), root);
    }
    case arctangent:
      return quotient(da, sum(number(1.0), square(a)));
    case arctangent2:
      return quotient(difference(product(b, da), product(a, db)), sum(square(a), square(b)));
    case hyperbolic_sine:
      return product(apply(hyperbolic_cosine, a), da);
    case hyperbolic_cosine:
      return product(apply(hyperbolic_sine, a), da);
    case hyperbolic_tangent:
      return product(difference(number(1.0), square(expression)), da);
    case bessel_j:
    case bessel_y:
    case bessel_i:
    case bessel_k: {
      // 2 f_n' = +-f_{n-1} +- f_{n+1}, and f_{-1} = -+f_1. Source: abramowitz1964, eqs. (9.1.27), (9.6.26).
      const bool is_modified = node.operation == bessel_i || node.operation == bessel_k;
      const double order = (*this)[a].value;
      const Expression above = apply(node.operation, number(order + 1.0), b);
      const Expression below =
          order == 0.0 ? (is_modified ? above : minus(above)) : apply(node.operation, number(order - 1.0), b);
      const Expression twice = is_modified ? sum(below, above) : difference(below, above);
      const Expression slope = product(number(node.operation == bessel_k ? -0.5 : 0.5), twice);
      return product(slope, db);
    }
    case table: {
      const double slope = table_derivative((*this)[a].value);
      return slope == 0.0 ? number(0.0) : product(apply(table, number(slope), b), db);
    }
    case Operation::sign:
    case step:
    case Operation::constant:
    case Operation::variable:
      break;
  }
  return number(0.0);
}

}  // namespace bathline
