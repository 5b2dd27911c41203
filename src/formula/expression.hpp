// Formulas as graphs with shared subexpressions, and their exact derivatives.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "formula/operation.hpp"
#include "formula/table.hpp"

namespace bathline {

/// A node of an `ExpressionGraph`: the value of an operation on other nodes of the same graph.
struct Expression {
  int index = -1;
  bool operator==(const Expression&) const = default;
};

/// Thrown for formulas that exceed a limit of size.
class FormulaTooLarge : public std::runtime_error {
 public:
  FormulaTooLarge() : std::runtime_error("the formula, with its derivatives, is too large") {}
};

/// Expressions in variables numbered from 0; equal subexpressions are one node. Zeros and ones are eliminated and
/// constants folded, so that derivatives contain no superfluous terms.
class ExpressionGraph {
 public:
  struct Node {
    Operation operation;
    int a = -1, b = -1, c = -1;  ///< operands, of smaller index than the node; for a variable a is its number
    double value = 0.0;          ///< for a constant
    /// Compares the bits of `value`, so that NaN equals itself.
    bool operator==(const Node& other) const;
  };
  /// Maximum number of nodes: bounds memory and time for any input.
  static constexpr std::size_t max_nodes = 300'000;

  Expression constant(double value);
  Expression variable(int number);
  /// The operation on its operands; surplus arguments are ignored.
  Expression apply(Operation operation, Expression a, Expression b = {}, Expression c = {});
  /// The interpolant at an argument; the graph, its copies and their programs keep the table.
  Expression interpolant(TableNumber number, Expression argument);
  const std::vector<TableNumber>& tables() const { return tables_; }
  /// The partial derivative; of min, max, abs, sign and step, that of the active piece.
  Expression derivative(Expression expression, int variable);

  const Node& operator[](Expression expression) const { return nodes_[static_cast<std::size_t>(expression.index)]; }
  bool is_constant(Expression expression) const { return (*this)[expression].operation == Operation::constant; }
  bool is_constant(Expression expression, double value) const {
    return is_constant(expression) && (*this)[expression].value == value;
  }
  /// Whether the simplified expression contains a variable.
  bool depends(Expression expression, int variable) const;
  /// Whether the expression contains min, max, abs, sign, step or select: derivatives hold within each piece only.
  bool is_piecewise(Expression expression) const;
  std::size_t size() const { return nodes_.size(); }
  /// All nodes that `roots` consist of, themselves included, operands first.
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
  Expression chain_rule(Expression expression, Expression da, Expression db, Expression dc);

  std::vector<Node> nodes_;
  std::unordered_map<Node, int, Hash> indices_;
  std::vector<TableNumber> tables_;
  std::vector<std::vector<int>> derivatives_;  // by variable and node, -1 where not computed yet
};

/// A formula, or a derivative of it, that is to be evaluated.
struct FormulaOutput {
  FormulaOutput(Expression value) : expression(value), formula(value) {}
  /// The derivative of this output, which is at most a first derivative itself.
  FormulaOutput differentiated(ExpressionGraph& graph, int variable) const;

  Expression expression;        ///< the derivative in symbols
  Expression formula;           ///< the formula itself
  int first = -1, second = -1;  ///< the variables by which it is differentiated, -1: none
};

/// The first subexpression without a finite value at these values of the variables, as "sqrt(-1)"; empty if the output
/// itself is finite.
std::string find_nonfinite_subexpression(const ExpressionGraph& graph, const FormulaOutput& output,
                                         std::span<const double> variables);

}  // namespace bathline
