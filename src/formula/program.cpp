// From expressions to instructions, each of which calls the next one: the processor foresees such jumps best, and a
// result that is needed at once stays in a register.
#include "formula/program.hpp"

#include <cmath>
#include <utility>

#include "formula/lowering.hpp"

namespace bathline {

using enum Operation;

/// What instructions do. Of those with `last` in their name an operand is the result of the instruction before.
struct Program::Handlers {
  template <class Compute>
  static double go_on(const Instruction* i, double* m, Compute compute) {
    const double result = compute();
    m[i->target] = result;
    return i[1].handler(i + 1, m, result);
  }
  static double end(const Instruction*, double*, double last) { return last; }
  static double sum(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return m[i->a] + m[i->b]; });
  }
  static double last_sum(const Instruction* i, double* m, double last) {
    return go_on(i, m, [&] { return last + m[i->b]; });
  }
  static double difference(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return m[i->a] - m[i->b]; });
  }
  static double last_difference(const Instruction* i, double* m, double last) {
    return go_on(i, m, [&] { return last - m[i->b]; });
  }
  static double product(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return m[i->a] * m[i->b]; });
  }
  static double last_product(const Instruction* i, double* m, double last) {
    return go_on(i, m, [&] { return last * m[i->b]; });
  }
  static double quotient(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return m[i->a] / m[i->b]; });
  }
  static double last_quotient(const Instruction* i, double* m, double last) {
    return go_on(i, m, [&] { return last / m[i->b]; });
  }
  static double negation(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return -m[i->a]; });
  }
  static double product_sum(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return std::fma(m[i->a], m[i->b], m[i->c]); });
  }
  static double last_product_sum(const Instruction* i, double* m, double last) {
    return go_on(i, m, [&] { return std::fma(last, m[i->b], m[i->c]); });
  }
  static double product_last_sum(const Instruction* i, double* m, double last) {
    return go_on(i, m, [&] { return std::fma(m[i->a], m[i->b], last); });
  }
  static double product_difference(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return std::fma(m[i->a], m[i->b], -m[i->c]); });
  }
  static double last_product_difference(const Instruction* i, double* m, double last) {
    return go_on(i, m, [&] { return std::fma(last, m[i->b], -m[i->c]); });
  }
  static double difference_product(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return std::fma(-m[i->a], m[i->b], m[i->c]); });
  }
  static double difference_last_product(const Instruction* i, double* m, double last) {
    return go_on(i, m, [&] { return std::fma(-last, m[i->b], m[i->c]); });
  }
  static double last_difference_product(const Instruction* i, double* m, double last) {
    return go_on(i, m, [&] { return std::fma(-m[i->a], m[i->b], last); });
  }
  static double root(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return std::sqrt(m[i->a]); });
  }
  static double call(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return i->function(m[i->a]); });
  }
  static double other(const Instruction* i, double* m, double) {
    return go_on(i, m, [&] { return evaluate(i->operation, m[i->a], m[i->b], m[i->c]); });
  }
};

Program::Program(const ExpressionGraph& graph, std::span<const Expression> outputs, int variables)
    : variables_(variables), memory_(static_cast<std::size_t>(variables), 0.0) {
  const LoweredExpressions lowered(graph, outputs);
  const ExpressionGraph& code = lowered.graph();
  const std::vector<Expression> parts = code.parts(lowered.outputs());
  std::vector<int> places(code.size(), -1);
  for (const Expression part : parts) {
    const ExpressionGraph::Node& node = code[part];
    if (node.operation == variable) {
      places[at(part.index)] = node.a;
      used_.push_back(node.a);
    } else if (node.operation == constant) {
      places[at(part.index)] = static_cast<int>(memory_.size());
      memory_.push_back(node.value);
    }
  }
  for (const Expression part : parts) {
    if (places[at(part.index)] >= 0) continue;
    if (instructions_.size() >= most_instructions) throw FormulaTooLarge();
    instructions_.push_back(instruction(code[part], places, !instructions_.empty()));
    places[at(part.index)] = static_cast<int>(memory_.size());
    memory_.push_back(0.0);
  }
  const bool has_instructions = !instructions_.empty();
  instructions_.push_back({Handlers::end, 0, 0, 0, 0, nullptr, constant});
  for (const Expression output : lowered.outputs()) outputs_.push_back(places[at(output.index)]);
  last_is_output_ = has_instructions && outputs_.size() == 1 && at(outputs_.front()) + 1 == memory_.size();
  for (std::vector<int>* list : {&used_, &outputs_}) list->push_back(end_of_list);
}

Program::Instruction Program::instruction(const ExpressionGraph::Node& node, const std::vector<int>& places,
                                          bool has_last) const {
  const auto place = [&](int index) { return index < 0 ? 0u : static_cast<unsigned>(places[at(index)]); };
  const auto target = static_cast<unsigned>(memory_.size());
  Instruction i{Handlers::other, target, place(node.a), place(node.b), place(node.c), nullptr, node.operation};
  const auto is_last = [&](unsigned operand) { return has_last && operand + 1 == target; };
  const auto choose_handler = [&](Handler plain, Handler with_last) { i.handler = is_last(i.a) ? with_last : plain; };
  const bool is_symmetric = node.operation == add || node.operation == multiply || node.operation == multiply_add ||
                            node.operation == multiply_subtract || node.operation == subtract_product;
  if (is_symmetric && is_last(i.b)) std::swap(i.a, i.b);
  const auto call = [&](double (*function)(double)) {
    i.handler = Handlers::call;
    i.function = function;
  };
  switch (node.operation) {
    case add:
      choose_handler(Handlers::sum, Handlers::last_sum);
      break;
    case subtract:
      choose_handler(Handlers::difference, Handlers::last_difference);
      break;
    case multiply:
      choose_handler(Handlers::product, Handlers::last_product);
      break;
    case divide:
      choose_handler(Handlers::quotient, Handlers::last_quotient);
      break;
    case negate:
      i.handler = Handlers::negation;
      break;
    case multiply_add:
      choose_handler(is_last(i.c) ? Handlers::product_last_sum : Handlers::product_sum, Handlers::last_product_sum);
      break;
    case multiply_subtract:
      choose_handler(Handlers::product_difference, Handlers::last_product_difference);
      break;
    case subtract_product:
      choose_handler(is_last(i.c) ? Handlers::last_difference_product : Handlers::difference_product,
                     Handlers::difference_last_product);
      break;
    case square_root:
      i.handler = Handlers::root;
      break;
    case exponential:
      call(std::exp);
      break;
    case logarithm:
      call(std::log);
      break;
    case sine:
      call(std::sin);
      break;
    case cosine:
      call(std::cos);
      break;
    default:
      break;
  }
  return i;
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
      // One of two that are equal is enough, so that the matrix is symmetric to the last bit.
      const Expression second = graph.derivative(gradient[i], first + static_cast<int>(j));
      hessian[i * gradient.size() + j] = hessian[j * gradient.size() + i] = second;
    }
  }
  return hessian;
}

}  // namespace bathline
