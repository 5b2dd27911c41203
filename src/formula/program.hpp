// Expressions as flat programs.
#pragma once

#include <span>
#include <vector>

#include "formula/expression.hpp"

namespace bathline {

/// Computes some expressions of one graph together, each common part once. Values do not depend on the instruction
/// set: products that are added are fused explicitly, and everything else is one operation or one call of the standard
/// library. Not for use by several threads at once.
class FormulaProgram {
 public:
  /// Compilers that do not optimise let every instruction take its part of the stack.
  static constexpr std::size_t most_steps = 20'000;
  /// Places in memory.
  struct Operands {
    unsigned target, a, b, c;
  };

  /// Variables are numbered from 0 to `variables` - 1. Throws FormulaTooLarge.
  FormulaProgram(const ExpressionGraph& graph, std::span<const Expression> outputs, int variables);

  int variables() const { return variables_; }
  int outputs() const { return static_cast<int>(outputs_.size()) - 1; }
  /// `variables` and `outputs` have the sizes above; they may not overlap.
  void run(const double* variables, double* outputs) const {
    run(variables);
    const double* const memory = memory_.data();
#pragma GCC unroll 4  // of short lists half of the time were jumps
    for (const int* place = outputs_.data(); *place != end_of_list; ++place) *outputs++ = memory[*place];
  }
  /// The last output.
  double run(const double* variables) const {
    double* const memory = memory_.data();
#pragma GCC unroll 4
    for (const int* variable = used_.data(); *variable != end_of_list; ++variable) {
      memory[*variable] = variables[*variable];
    }
    const Instruction* const first = instructions_.data();
    return first->handler(first, memory, 0.0);
  }

 private:
  struct Instruction;
  /// Executes an instruction and those behind it; `last` is the result of the one before. Returns the last result.
  using Handler = double (*)(const Instruction*, double* memory, double last);
  /// One step, or two.
  struct Instruction {
    Handler handler;
    Operands first, second;
    double (*function)(double);
    Operation operation;
  };
  struct Handlers;
  class Assembler;
  /// Lists end like this: a loop of counted length would be compiled for long lists, which these are not.
  static constexpr int end_of_list = -1;
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  int variables_;
  std::vector<int> used_;  // variables that matter
  std::vector<Instruction> instructions_;
  std::vector<int> outputs_;
  mutable std::vector<double> memory_;  // variables, constants, results of the instructions
};

/// The gradient of `value` by `count` variables from `first` on, as expressions.
std::vector<Expression> gradient_of(ExpressionGraph& graph, Expression value, int first, int count);
/// All second derivatives by these variables, row by row.
std::vector<Expression> hessian_of(ExpressionGraph& graph, Expression value, int first, int count);

}  // namespace bathline
