// Formulas as graphs in which no subexpression occurs twice, and their exact derivatives.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "formula/operation.hpp"

namespace bathline {

/// A node of an `ExpressionGraph`: the value of an operation on other nodes of the same graph.
struct Expression {
  int index = -1;
  bool operator==(const Expression&) const = default;
};

/// What a formula that is too large to be handled throws.
class FormulaTooLarge : public std::runtime_error {
 public:
  FormulaTooLarge() : std::runtime_error("the formula, with its derivatives, is too large") {}
};

/// Expressions in variables that are numbered from 0, each of them once. Zeros and ones are simplified away and
/// constants are put together, so that what a derivative does not need is not computed.
class ExpressionGraph {
 public:
  struct Node {
    Operation operation;
    int a = -1, b = -1, c = -1;  ///< operands, which stand before the node; of a variable a is its number
    double value = 0.0;          ///< of a constant
    /// Bit by bit, so that what is no number equals itself.
    bool operator==(const Node& other) const;
  };
  /// Nodes that a graph may have: bounds memory and time for formulas of strangers.
  static constexpr std::size_t max_nodes = 300'000;

  Expression constant(double value);
  Expression variable(int number);
  /// The operation on as many operands as it has.
  Expression apply(Operation operation, Expression a, Expression b = {}, Expression c = {});
  /// The partial derivative. min, max, abs, sign and step have those of the piece at hand.
  Expression derivative(Expression of, int variable);

  const Node& operator[](Expression expression) const { return nodes_[static_cast<std::size_t>(expression.index)]; }
  bool is_constant(Expression expression) const { return (*this)[expression].operation == Operation::constant; }
  bool is_constant(Expression expression, double value) const {
    return is_constant(expression) && (*this)[expression].value == value;
  }
  /// Whether the value of a variable matters to an expression, as it was simplified.
  bool depends(Expression expression, int variable) const;
  /// Whether min, max, abs, sign or step part an expression into pieces, of each of which derivatives know only itself.
  bool is_piecewise(Expression expression) const;
  std::size_t size() const { return nodes_.size(); }
  /// All that `roots` are made of, and they themselves, operands first.
  std::vector<Expression> topological_order(std::span<const Expression> roots) const;

 private:
  struct Hash {
    std::size_t operator()(const Node& node) const;
  };
  Expression intern(const Node& node);
  Expression simplified_sum(Expression a, Expression b);
  Expression simplified_difference(Expression a, Expression b);
  Expression simplified_product(Expression a, Expression b);
  Expression simplified_quotient(Expression a, Expression b);
  Expression simplified_negation(Expression a);
  Expression simplified_power(Expression a, Expression b);
  /// By the chain rule, from the derivatives da, db, dc of the operands.
  Expression chain_rule(Expression of, Expression da, Expression db, Expression dc);

  std::vector<Node> nodes_;
  std::unordered_map<Node, int, Hash> found_;
  std::vector<std::vector<int>> derivatives_;  // of variable and node, -1 where not known yet
};

/// Why `expression` has no finite value at these values of the variables: "sqrt(-1)". Empty where it has one.
std::string find_nonfinite_subexpression(const ExpressionGraph& graph, Expression expression,
                                         std::span<const double> variables);

}  // namespace bathline
