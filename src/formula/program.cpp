// Bytecode of expressions, and its interpreter.
#include "formula/program.hpp"

#include <algorithm>

#include "formula/lowering.hpp"

namespace bathline {

namespace {

/// The lowered expressions in the order in which they are computed.
FormulaBytecode bytecode_of(const LoweredExpressions& lowered, int variables) {
  FormulaBytecode program;
  program.variables = static_cast<std::size_t>(variables);
  const ExpressionGraph& code = lowered.graph();
  const std::vector<Expression> parts = code.topological_order(lowered.outputs());
  const auto index = [](int number) { return static_cast<std::size_t>(number); };
  std::vector<std::size_t> slots(code.size(), 0);
  for (const Expression part : parts) {
    const ExpressionGraph::Node& node = code[part];
    if (node.operation == Operation::variable) slots[index(part.index)] = index(node.a);
    if (node.operation != Operation::constant) continue;
    slots[index(part.index)] = program.first_result();
    program.constants.push_back(node.value);
  }
  const auto slot = [&](int number) { return number < 0 ? 0 : slots[index(number)]; };
  for (const Expression part : parts) {
    const ExpressionGraph::Node& node = code[part];
    if (operands(node.operation) == 0) continue;
    slots[index(part.index)] = program.first_result() + program.instructions.size();
    program.instructions.push_back({node.operation, slot(node.a), slot(node.b), slot(node.c)});
    if (program.instructions.size() > FormulaProgram::max_instructions) throw FormulaTooLarge();
  }
  for (const Expression output : lowered.outputs()) program.outputs.push_back(slot(output.index));
  return program;
}

}  // namespace

FormulaProgram::FormulaProgram(const ExpressionGraph& graph, std::span<const Expression> outputs, int variables)
    : bytecode_(bytecode_of(LoweredExpressions(graph, outputs), variables)), code_(jit_compile(bytecode_)) {
  if (code_ != nullptr) function_ = *code_;
}

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

std::vector<Expression> gradient_of(ExpressionGraph& graph, Expression value, int first, int count) {
  std::vector<Expression> gradient;
  for (int i = 0; i < count; ++i) gradient.push_back(graph.derivative(value, first + i));
  return gradient;
}

std::vector<Expression> hessian_of(ExpressionGraph& graph, Expression value, int first, int count) {
  const std::vector<Expression> gradient = gradient_of(graph, value, first, count);
  std::vector<Expression> hessian(gradient.size() * gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      // Computed once for both entries, so that the matrix is symmetric to the last bit.
      const Expression second = graph.derivative(gradient[i], first + static_cast<int>(j));
      hessian[i * gradient.size() + j] = hessian[j * gradient.size() + i] = second;
    }
  }
  return hessian;
}

}  // namespace bathline
