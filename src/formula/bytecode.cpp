// Expressions as bytecode.
// Tested by tests/formula/program_test.cpp.
#include "formula/bytecode.hpp"

namespace bathline {

FormulaBytecode bytecode_of(const ExpressionGraph& graph, std::span<const Expression> outputs, int variables) {
  FormulaBytecode program;
  program.variables = static_cast<std::size_t>(variables);
  const std::vector<Expression> parts = graph.topological_order(outputs);
  const auto index = [](int number) { return static_cast<std::size_t>(number); };
  std::vector<std::size_t> slots(graph.size(), 0);
  for (const Expression part : parts) {
    const ExpressionGraph::Node& node = graph[part];
    if (node.operation == Operation::variable) slots[index(part.index)] = index(node.a);
    if (node.operation != Operation::constant) continue;
    slots[index(part.index)] = program.first_result();
    program.constants.push_back(node.value);
  }
  const auto slot = [&](int number) { return number < 0 ? 0 : slots[index(number)]; };
  for (const Expression part : parts) {
    const ExpressionGraph::Node& node = graph[part];
    if (operands(node.operation) == 0) continue;
    slots[index(part.index)] = program.first_result() + program.instructions.size();
    program.instructions.push_back({node.operation, slot(node.a), slot(node.b), slot(node.c)});
  }
  for (const Expression output : outputs) program.outputs.push_back(slot(output.index));
  return program;
}

}  // namespace bathline
