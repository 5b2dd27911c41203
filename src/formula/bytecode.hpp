// Formulas as lists of instructions.
#pragma once

#include <cstddef>
#include <vector>

#include "formula/operation.hpp"

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

}  // namespace bathline
