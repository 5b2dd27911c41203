// Expressions as flat programs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "formula/expression.hpp"
#include "formula/jit.hpp"

namespace bathline {

/// Computes some expressions of one graph together, each common part once: as machine code where there can be such,
/// else step by step. Values do not depend on which, nor on the instruction set: products that are added are fused
/// explicitly, and everything else is one operation or one call of the standard library. Not for use by several
/// threads at once.
class FormulaProgram {
 public:
  /// A bound on time and memory for formulas of strangers.
  static constexpr std::size_t max_steps = 20'000;

  /// Variables are numbered from 0 to `variables` - 1. Throws FormulaTooLarge.
  FormulaProgram(const ExpressionGraph& graph, std::span<const Expression> outputs, int variables);
  /// The same program without machine code.
  FormulaProgram interpreted() const;

  int variables() const { return static_cast<int>(bytecode_.variables); }
  int outputs() const { return static_cast<int>(bytecode_.outputs.size()); }
  bool is_jit_compiled() const { return code_ != nullptr; }
  /// `variables` and `outputs` have the sizes above; they may not overlap.
  void run(const double* variables, double* outputs) const {
    outputs[bytecode_.outputs.size() - 1] = last(variables, outputs);
  }
  /// The value of a program of one output.
  double run(const double* variables) const { return last(variables, nullptr); }

 private:
  /// Writes all outputs but the last, which it returns.
  double last(const double* variables, double* outputs) const {
    return function_ != nullptr ? function_(variables, outputs) : interpret(variables, outputs);
  }
  double interpret(const double* variables, double* outputs) const;

  FormulaBytecode bytecode_;
  std::shared_ptr<const JitFunction> code_;
  JitFunction function_ = nullptr;      // of the code
  mutable std::vector<double> memory_;  // of what is interpreted
};

/// The gradient of `value` by `count` variables from `first` on, as expressions.
std::vector<Expression> gradient_of(ExpressionGraph& graph, Expression value, int first, int count);
/// All second derivatives by these variables, row by row.
std::vector<Expression> hessian_of(ExpressionGraph& graph, Expression value, int first, int count);

}  // namespace bathline
