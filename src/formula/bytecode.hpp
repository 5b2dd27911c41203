// Formulas as lists of instructions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "formula/expression.hpp"

namespace bathline {

/// A program on slots of numbers: the variables first, then the constants, then the result of every instruction.
struct FormulaBytecode {
  /// An operation on the numbers in slots a, b, c; unused operands are 0.
  struct Instruction {
    Operation operation;
    std::size_t a, b, c;
  };

  std::size_t variables = 0;
  std::vector<double> constants;
  std::vector<Instruction> instructions;
  std::vector<std::size_t> outputs;  ///< slots

  std::size_t first_result() const { return variables + constants.size(); }
};

/// Expressions of a graph in the order in which they are computed, common subexpressions once.
FormulaBytecode bytecode_of(const ExpressionGraph& graph, std::span<const Expression> outputs, int variables);

}  // namespace bathline
