// Expressions as executable programs.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "formula/expression.hpp"
#include "formula/jit.hpp"
#include "formula/wide_evaluation.hpp"

namespace bathline {

/// Evaluates several expressions of one graph together, common subexpressions once: by machine code where it is
/// available, else by an interpreter. The values depend neither on this nor on the instruction set: added products are
/// fused explicitly, and everything else is one operation or one call of a library function. Outputs that are not
/// finite are evaluated once more, in wide numbers. Not thread-safe.
class FormulaProgram {
 public:
  /// Bounds time and memory for any input.
  static constexpr std::size_t max_instructions = 20'000;

  /// Variables are numbered from 0 to `variables` - 1. Throws FormulaTooLarge.
  FormulaProgram(const ExpressionGraph& graph, std::span<const FormulaOutput> outputs, int variables);
  FormulaProgram(const ExpressionGraph& graph, std::span<const Expression> outputs, int variables);
  /// The same program without machine code.
  FormulaProgram interpreted() const;

  int variables() const { return static_cast<int>(bytecode_.variables); }
  int outputs() const { return static_cast<int>(bytecode_.outputs.size()); }
  bool is_jit_compiled() const { return code_ != nullptr; }
  /// `variables` and `outputs` have the sizes above; they may not overlap.
  void run(const double* variables, double* outputs) const {
    const std::size_t count = bytecode_.outputs.size();
    outputs[count - 1] = evaluate_outputs(variables, outputs);
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(outputs[i])) [[unlikely]]
        outputs[i] = wide_output(i, variables, outputs[i]);
    }
  }
  /// The value of a program of one output.
  double run(const double* variables) const {
    const double value = evaluate_outputs(variables, nullptr);
    return std::isfinite(value) ? value : wide_output(0, variables, value);
  }

 private:
  /// Writes all outputs but the last, which it returns.
  double evaluate_outputs(const double* variables, double* outputs) const {
    return function_ != nullptr ? function_(variables, outputs) : interpret(variables, outputs);
  }
  double interpret(const double* variables, double* outputs) const;
  /// An output whose `value` is not finite, in wide numbers; `value` where these yield no finite number either.
  double wide_output(std::size_t index, const double* variables, double value) const;

  FormulaBytecode bytecode_;
  std::shared_ptr<const JitFunction> code_;
  JitFunction function_ = nullptr;  // that of `code_`, or null
  std::shared_ptr<const WideEvaluation> wide_;
  std::vector<TableNumber> tables_;     // which the bytecode contains
  mutable std::vector<double> memory_;  // slots of the interpreter
};

/// The gradient of `value` by `count` variables from `first` on.
std::vector<FormulaOutput> gradient_of(ExpressionGraph& graph, const FormulaOutput& value, int first, int count);
/// All second derivatives by these variables, row by row.
std::vector<FormulaOutput> hessian_of(ExpressionGraph& graph, Expression value, int first, int count);

}  // namespace bathline
