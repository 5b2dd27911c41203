// From expressions to instructions, each of which calls the next one: the processor foresees such jumps best. Two
// steps of arithmetic make one instruction, because a jump takes longer than a sum.
#include "formula/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "formula/lowering.hpp"

namespace bathline {

using enum Operation;

namespace {

/// Which operand is the result of the step before, which then need not come from memory.
enum class Last { none, a, b, c };

/// Steps of which two fit one instruction.
struct Arithmetic {
  Operation operation;
  Last last;
  bool operator==(const Arithmetic&) const = default;
};
constexpr Arithmetic arithmetic[] = {{add, Last::none},
                                     {add, Last::a},
                                     {multiply, Last::none},
                                     {multiply, Last::a},
                                     {subtract, Last::none},
                                     {subtract, Last::a},
                                     {subtract, Last::b},
                                     {multiply_add, Last::none},
                                     {multiply_add, Last::a},
                                     {multiply_add, Last::c},
                                     {multiply_subtract, Last::none},
                                     {multiply_subtract, Last::a},
                                     {multiply_subtract, Last::c},
                                     {subtract_product, Last::none},
                                     {subtract_product, Last::a},
                                     {subtract_product, Last::c}};
constexpr std::size_t arithmetics = std::size(arithmetic);

template <Arithmetic step>
double result_of(const FormulaProgram::Operands& o, const double* m, double last) {
  const double a = step.last == Last::a ? last : m[o.a];
  const double b = step.last == Last::b ? last : m[o.b];
  if constexpr (step.operation == add) return a + b;
  if constexpr (step.operation == subtract) return a - b;
  if constexpr (step.operation == multiply) return a * b;
  const double c = step.last == Last::c ? last : m[o.c];
  if constexpr (step.operation == multiply_add) return std::fma(a, b, c);
  if constexpr (step.operation == multiply_subtract) return std::fma(a, b, -c);
  if constexpr (step.operation == subtract_product) return std::fma(-a, b, c);
}

}  // namespace

/// What instructions do.
struct FormulaProgram::Handlers {
  static double go_on(const Instruction* i, double* m, double result) {
    m[i->first.target] = result;
    return i[1].handler(i + 1, m, result);
  }
  static double end(const Instruction* i, double* m, double) { return m[i->first.a]; }
  static double quotient(const Instruction* i, double* m, double) { return go_on(i, m, m[i->first.a] / m[i->first.b]); }
  static double negation(const Instruction* i, double* m, double) { return go_on(i, m, -m[i->first.a]); }
  static double root(const Instruction* i, double* m, double) { return go_on(i, m, std::sqrt(m[i->first.a])); }
  static double call(const Instruction* i, double* m, double) { return go_on(i, m, i->function(m[i->first.a])); }
  static double other(const Instruction* i, double* m, double) {
    return go_on(i, m, evaluate(i->operation, m[i->first.a], m[i->first.b], m[i->first.c]));
  }
  template <std::size_t step, bool ends>
  static double single(const Instruction* i, double* m, double last) {
    const double result = result_of<arithmetic[step]>(i->first, m, last);
    m[i->first.target] = result;
    if constexpr (ends) return result;
    return i[1].handler(i + 1, m, result);
  }
  template <std::size_t steps, bool ends>
  static double pair(const Instruction* i, double* m, double last) {
    const double first = result_of<arithmetic[steps / arithmetics]>(i->first, m, last);
    m[i->first.target] = first;
    const double second = result_of<arithmetic[steps % arithmetics]>(i->second, m, first);
    m[i->second.target] = second;
    if constexpr (ends) return second;
    return i[1].handler(i + 1, m, second);
  }
  template <bool ends, std::size_t... step>
  static constexpr auto singles(std::index_sequence<step...>) {
    return std::array<Handler, sizeof...(step)>{single<step, ends>...};
  }
  template <bool ends, std::size_t... steps>
  static constexpr auto pairs(std::index_sequence<steps...>) {
    return std::array<Handler, sizeof...(steps)>{pair<steps, ends>...};
  }
};

/// The instructions of a program as its steps come.
class FormulaProgram::Assembler {
 public:
  explicit Assembler(std::vector<Instruction>& instructions) : instructions_(instructions) {}

  void append(Operation operation, Operands operands) {
    const bool is_symmetric = operation != subtract && step_of(operation, Last::none) < arithmetics;
    if (is_symmetric && is_last(operands.b)) std::swap(operands.a, operands.b);
    const std::size_t step = arithmetic_step(operation, operands);
    last_ = operands.target;
    if (step < arithmetics && single_ < arithmetics) {
      pair_ = single_ * arithmetics + step;
      instructions_.back().second = operands;
      instructions_.back().handler = pairs<false>[pair_];
      single_ = arithmetics;
    } else {
      single_ = step;
      pair_ = no_pair;
      instructions_.push_back({step < arithmetics ? singles<false>[step] : handler(operation),
                               operands,
                               {},
                               function(operation),
                               operation});
    }
  }
  /// What the program returns is in `place`.
  void end(unsigned place) {
    if (single_ < arithmetics && is_last(place)) {
      instructions_.back().handler = singles<true>[single_];
    } else if (pair_ != no_pair && is_last(place)) {
      instructions_.back().handler = pairs<true>[pair_];
    } else {
      instructions_.push_back({Handlers::end, {0, place, 0, 0}, {}, nullptr, constant});
    }
  }

 private:
  static constexpr std::size_t no_pair = arithmetics * arithmetics;
  template <bool ends>
  static constexpr auto singles = Handlers::singles<ends>(std::make_index_sequence<arithmetics>());
  template <bool ends>
  static constexpr auto pairs = Handlers::pairs<ends>(std::make_index_sequence<no_pair>());

  bool is_last(unsigned place) const { return place == last_; }
  /// `arithmetics` for what is none.
  std::size_t arithmetic_step(Operation operation, const Operands& o) const {
    const bool has_third = operands(operation) == 3;
    const Last last = is_last(o.a)                            ? Last::a
                      : operation == subtract && is_last(o.b) ? Last::b
                      : has_third && is_last(o.c)             ? Last::c
                                                              : Last::none;
    return step_of(operation, last);
  }
  static std::size_t step_of(Operation operation, Last last) {
    const auto* const step = std::find(std::begin(arithmetic), std::end(arithmetic), Arithmetic{operation, last});
    return static_cast<std::size_t>(step - std::begin(arithmetic));
  }
  static Handler handler(Operation operation) {
    if (function(operation) != nullptr) return Handlers::call;
    if (operation == divide) return Handlers::quotient;
    if (operation == negate) return Handlers::negation;
    return operation == square_root ? Handlers::root : Handlers::other;
  }
  using Function = double (*)(double);
  static Function function(Operation operation) {
    switch (operation) {
      case exponential:
        return std::exp;
      case logarithm:
        return std::log;
      case sine:
        return std::sin;
      case cosine:
        return std::cos;
      default:
        return nullptr;
    }
  }

  std::vector<Instruction>& instructions_;
  unsigned last_ = std::numeric_limits<unsigned>::max();  // where the step before puts its result
  std::size_t single_ = arithmetics;                      // of the last instruction, if another can join it
  std::size_t pair_ = no_pair;                            // of the last instruction
};

FormulaProgram::FormulaProgram(const ExpressionGraph& graph, std::span<const Expression> outputs, int variables)
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
  const auto place = [&](int index) { return index < 0 ? 0u : static_cast<unsigned>(places[at(index)]); };
  Assembler assembler(instructions_);
  std::size_t steps = 0;
  for (const Expression part : parts) {
    if (places[at(part.index)] >= 0) continue;
    if (++steps > most_steps) throw FormulaTooLarge();
    const ExpressionGraph::Node& node = code[part];
    assembler.append(node.operation,
                     {static_cast<unsigned>(memory_.size()), place(node.a), place(node.b), place(node.c)});
    places[at(part.index)] = static_cast<int>(memory_.size());
    memory_.push_back(0.0);
  }
  for (const Expression output : lowered.outputs()) outputs_.push_back(places[at(output.index)]);
  assembler.end(static_cast<unsigned>(outputs_.back()));
  for (std::vector<int>* list : {&used_, &outputs_}) list->push_back(end_of_list);
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
