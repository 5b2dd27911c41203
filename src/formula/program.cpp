// Programs of expressions, and their interpreter.
#include "formula/program.hpp"

#include <algorithm>
#include <cmath>

#include "formula/lowering.hpp"

namespace bathline {

FormulaProgram::FormulaProgram(const ExpressionGraph& graph, std::span<const FormulaOutput> outputs, int variables)
    : bytecode_(lowered_bytecode(graph, outputs, variables)),
      code_(jit_compile(bytecode_)),
      wide_(std::make_shared<const WideEvaluation>(graph, outputs, variables)),
      tables_(graph.tables()) {
  if (code_ != nullptr) function_ = *code_;
}

FormulaProgram::FormulaProgram(const ExpressionGraph& graph, std::span<const Expression> outputs, int variables)
    : FormulaProgram(graph, std::vector<FormulaOutput>(outputs.begin(), outputs.end()), variables) {}

FormulaProgram FormulaProgram::interpreted() const {
  FormulaProgram program = *this;
  program.code_ = nullptr;
  program.function_ = nullptr;
  return program;
}

double FormulaProgram::interpret(const double* variables, double* outputs) const {
  memory_.resize(std::max<std::size_t>(1, bytecode_.first_result() + bytecode_.instructions.size()));
  std::copy_n(variables, bytecode_.variables, memory_.begin());
  double* result = std::copy(bytecode_.constants.begin(), bytecode_.constants.end(),
                             memory_.data() + static_cast<std::ptrdiff_t>(bytecode_.variables));
  const double* const m = memory_.data();
  for (const FormulaBytecode::Instruction& instruction : bytecode_.instructions) {
    *result++ = evaluate(instruction.operation, m[instruction.a], m[instruction.b], m[instruction.c]);
  }
  for (std::size_t i = 0; i + 1 < bytecode_.outputs.size(); ++i) outputs[i] = m[bytecode_.outputs[i]];
  return m[bytecode_.outputs.back()];
}

double FormulaProgram::wide_output(std::size_t index, const double* variables, double value) const {
  const auto is_finite = [](double number) { return std::isfinite(number); };
  if (!std::all_of(variables, variables + bytecode_.variables, is_finite)) return value;
  const double wide = wide_->output(index, variables);
  return std::isfinite(wide) ? wide : value;
}

std::vector<FormulaOutput> gradient_of(ExpressionGraph& graph, const FormulaOutput& value, int first, int count) {
  std::vector<FormulaOutput> gradient;
  for (int i = 0; i < count; ++i) gradient.push_back(value.differentiated(graph, first + i));
  return gradient;
}

std::vector<FormulaOutput> hessian_of(ExpressionGraph& graph, Expression value, int first, int count) {
  const std::vector<FormulaOutput> gradient = gradient_of(graph, value, first, count);
  std::vector<FormulaOutput> hessian(gradient.size() * gradient.size(), value);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      // Computed once for both entries, so that the matrix is symmetric to the last bit.
      const FormulaOutput second = gradient[i].differentiated(graph, first + static_cast<int>(j));
      hessian[i * gradient.size() + j] = hessian[j * gradient.size() + i] = second;
    }
  }
  return hessian;
}

}  // namespace bathline
