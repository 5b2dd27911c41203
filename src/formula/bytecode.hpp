// Programs as lists of steps.
#pragma once

#include <cstddef>
#include <vector>

#include "formula/operation.hpp"

namespace bathline {

/// What a program does, in a memory of numbers: variables first, then constants, then the result of every step.
struct FormulaBytecode {
  /// An operation on numbers that stand in these places; places of operands that it does not have are 0.
  struct Instruction {
    Operation operation;
    std::size_t a, b, c;
  };

  std::size_t variables = 0;
  std::vector<double> constants;
  std::vector<Instruction> instructions;
  std::vector<std::size_t> outputs;  ///< places

  std::size_t first_result() const { return variables + constants.size(); }
};

}  // namespace bathline
