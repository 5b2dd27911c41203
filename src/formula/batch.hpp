// An expression in one variable at many points.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "formula/bytecode.hpp"
#include "formula/program.hpp"

namespace bathline {

/// Every instruction is executed for a batch of points at once, in registers, with the bits of `FormulaProgram::run` at
/// every point. Not thread-safe.
class FormulaBatch {
 public:
  /// Throws FormulaTooLarge.
  FormulaBatch(const ExpressionGraph& graph, const FormulaOutput& output);
  /// The spans have the same size.
  void run(std::span<const double> x, std::span<double> values) const;

 private:
  static constexpr std::size_t points = 64;  ///< of a batch
  void run_batch(const double* x, double* values) const;

  FormulaProgram program_;
  FormulaBytecode bytecode_;
  mutable std::vector<double> memory_;  // `points` numbers for every slot
};

}  // namespace bathline
