// Expressions at many points.
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
  /// Variables are numbered from 0 to `variables` - 1. Throws FormulaTooLarge.
  FormulaBatch(const ExpressionGraph& graph, std::span<const FormulaOutput> outputs, int variables);
  /// Of one variable.
  FormulaBatch(const ExpressionGraph& graph, const FormulaOutput& output)
      : FormulaBatch(graph, std::span(&output, 1), 1) {}
  /// Of N points, variable v of point i is x[v N + i], and output o is values[o N + i].
  void run(std::span<const double> x, std::span<double> values) const;
  /// The same expressions at single points.
  const FormulaProgram& program() const { return program_; }

 private:
  static constexpr std::size_t points = 64;  ///< of a batch
  /// Of `count` points, `size` from the point `first` on; `run_point` one by the program.
  void run_batch(const double* x, double* values, std::size_t count, std::size_t first, std::size_t size) const;
  void run_point(const double* x, double* values, std::size_t count, std::size_t point) const;

  FormulaProgram program_;
  FormulaBytecode bytecode_;
  mutable std::vector<double> memory_;               // `points` numbers for every slot
  mutable std::vector<double> variables_, outputs_;  // of one point
};

}  // namespace bathline
