// Any text as a formula in two variables: parsed, differentiated twice, evaluated.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formula/parser.hpp"
#include "formula/program.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bathline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ExpressionGraph graph;
  const FormulaNames names = {{"x", graph.variable(0)}, {"y", graph.variable(1)}, {"k", graph.constant(2.0)}};
  try {
    const Expression value = parse_formula(text, names, graph);
    const double position[] = {0.3, -1.2};
    double gradient[2], hessian[4];
    const FormulaProgram program(graph, {&value, 1}, 2);
    FormulaProgram(graph, gradient_of(graph, value, 0, 2), 2).run(position, gradient);
    FormulaProgram(graph, hessian_of(graph, value, 0, 2), 2).run(position, hessian);
    // A formula without an undefined part has a value, and its Hessian is symmetric.
    const bool is_defined = find_nonfinite_subexpression(graph, value, position).empty();
    if (is_defined && std::isnan(program.run(position))) std::abort();
    if (hessian[1] != hessian[2] && !std::isnan(hessian[1])) std::abort();
  } catch (const FormulaError& error) {
    if (error.offset() > size) std::abort();
  } catch (const FormulaTooLarge&) {
    return 0;
  }
  return 0;
}
