// The chain rule for values, with the limits at singular points.
// Tested by tests/formula/wide_evaluation_test.cpp.
#include "formula/wide_evaluation.hpp"

#include <algorithm>
#include <cmath>

#include "formula/table.hpp"
#include "formula/wide_number.hpp"

namespace bathline {

using enum Operation;

namespace {

/// A value with its derivatives by the first variable of an output, by the second, and by both.
struct Jet {
  WideNumber value, first, second, mixed;
  /// Whether the value is the same in a neighbourhood, as that of `step` is.
  bool is_locally_constant = false;

  static Jet constant(const WideNumber& value) {
    // A function that vanishes in a neighbourhood.
    return {value.is_zero() ? WideNumber() : value, {}, {}, {}, true};
  }
  static Jet undefined() {
    const WideNumber none = WideNumber::undefined();
    return {none, none, none, none};
  }
};

double double_value(Operation operation, const WideNumber& a) { return evaluate_function(operation, a.value(), 0.0); }

/// A function of one argument with its first and second derivative.
struct Taylor {
  WideNumber value, first, second;
};

Taylor bessel(Operation operation, double order, double x) {
  // f_n' = +-(f_{n-1} +- f_{n+1})/2. Source: abramowitz1964, eqs. (9.1.27), (9.6.26).
  const bool is_modified = operation == bessel_i || operation == bessel_k;
  const double half = operation == bessel_k ? -0.5 : 0.5, sign = is_modified ? 1.0 : -1.0;
  const auto f = [&](double n) {
    const double value = evaluate_function(operation, std::abs(n), x);
    return n < 0.0 && std::fmod(n, 2.0) != 0.0 && !is_modified ? -value : value;
  };
  const auto derivative = [&](double n) { return half * (f(n - 1.0) + sign * f(n + 1.0)); };
  return {f(order), derivative(order), half * (derivative(order - 1.0) + sign * derivative(order + 1.0))};
}

Taylor taylor(Operation operation, const WideNumber& u) {
  const WideNumber one = 1.0, two = 2.0;
  switch (operation) {
    case exponential: {
      const WideNumber e = wide_exp(u);
      return {e, e, e};
    }
    case logarithm:
      return {wide_log(u), one / u, -(one / u / u)};
    case sine: {
      const WideNumber s = double_value(sine, u), c = double_value(cosine, u);
      return {s, c, -s};
    }
    case cosine: {
      const WideNumber s = double_value(sine, u), c = double_value(cosine, u);
      return {c, -s, -c};
    }
    case tangent: {
      const WideNumber t = double_value(tangent, u), d = one + t * t;
      return {t, d, two * t * d};
    }
    case arcsine:
    case arccosine: {
      const WideNumber square = (one - u) * (one + u), root = wide_root(square);
      const WideNumber first = one / root, second = u / (square * root);
      return operation == arcsine ? Taylor{double_value(arcsine, u), first, second}
                                  : Taylor{double_value(arccosine, u), -first, -second};
    }
    case arctangent: {
      const WideNumber d = one / (one + u * u);
      return {double_value(arctangent, u), d, -(two * u * d * d)};
    }
    case hyperbolic_sine: {
      const WideNumber s = wide_sinh(u);
      return {s, wide_cosh(u), s};
    }
    case hyperbolic_cosine: {
      const WideNumber c = wide_cosh(u);
      return {c, wide_sinh(u), c};
    }
    case hyperbolic_tangent: {
      const WideNumber t = double_value(hyperbolic_tangent, u), c = wide_cosh(u), d = one / (c * c);
      return {t, d, -(two * t * d)};
    }
    default:
      return {WideNumber::undefined(), WideNumber::undefined(), WideNumber::undefined()};
  }
}

Jet compose(const Taylor& f, const Jet& u) {
  return {f.value, f.first * u.first, f.first * u.second, f.second * (u.first * u.second) + f.first * u.mixed};
}

Jet sum(const Jet& a, const Jet& b) {
  return {a.value + b.value, a.first + b.first, a.second + b.second, a.mixed + b.mixed};
}

Jet minus(const Jet& a) { return {-a.value, -a.first, -a.second, -a.mixed}; }

Jet product(const Jet& a, const Jet& b) {
  return {a.value * b.value, a.first * b.value + a.value * b.first, a.second * b.value + a.value * b.second,
          (a.mixed * b.value + a.first * b.second) + (a.second * b.first + a.value * b.mixed)};
}

Jet quotient(const Jet& a, const Jet& b) {
  Jet q{a.value / b.value, {}, {}, {}};
  q.first = (a.first - q.value * b.first) / b.value;
  q.second = (a.second - q.value * b.second) / b.value;
  q.mixed = (a.mixed - q.first * b.second - q.second * b.first - q.value * b.mixed) / b.value;
  return q;
}

/// u^p with a constant p.
Jet power_of(const Jet& u, double p) {
  if (p == 0.0) return Jet::constant(1.0);
  if (p == 1.0) return u;
  Jet result = compose(
      Taylor{p == 0.5 ? wide_root(u.value) : wide_power(u.value, p), WideNumber(p) * wide_power(u.value, p - 1.0),
             WideNumber(p * (p - 1.0)) * wide_power(u.value, p - 2.0)},
      u);
  if (!u.value.is_zero() || p < 0.5) return result;
  // At a minimum u = 0 of a twice differentiable function |u'| <= C sqrt(u), so that p u^(p-1) u' = O(u^(p - 1/2)) and
  // p (p-1) u^(p-2) u'^2 = O(u^(p-1)).
  const auto correct = [&](WideNumber& derivative, const WideNumber& inner) {
    if (inner.is_zero() && !inner.is_exact_zero()) derivative = p > 0.5 ? WideNumber(0.0) : WideNumber::bounded();
  };
  correct(result.first, u.first);
  correct(result.second, u.second);
  if (p > 1.0 && u.first.is_zero() && u.second.is_zero() && !result.mixed.is_exact_zero() && u.mixed.is_finite())
    result.mixed = 0.0;
  return result;
}

/// |w|^p with a constant p.
Jet power_of_magnitude(const Jet& w, double p) {
  if (p == 2.0) return power_of(w, p);
  const WideNumber sign = w.value.mantissa(), size = sign.mantissa() < 0.0 ? -w.value : w.value;
  const WideNumber first = WideNumber(p) * wide_power(size, p - 1.0);
  return compose(Taylor{wide_power(size, p), sign.mantissa() < 0.0 ? -first : first,
                        WideNumber(p * (p - 1.0)) * wide_power(size, p - 2.0)},
                 w);
}

/// u^w where w varies: the derivatives of exp(w log(u)).
Jet variable_power(const Jet& u, const Jet& w) {
  const Jet exponent = product(w, compose(taylor(logarithm, u.value), u));
  const WideNumber f = wide_power(u.value, w.value.value());
  return {f, f * exponent.first, f * exponent.second, f * (exponent.first * exponent.second + exponent.mixed)};
}

Jet angle(const Jet& y, const Jet& x) {
  const WideNumber square = x.value * x.value + y.value * y.value;
  // (x y' - y x')/(x^2 + y^2)
  const auto derivative = [&](const WideNumber& dy, const WideNumber& dx) {
    return (x.value * dy - y.value * dx) / square;
  };
  const WideNumber first = derivative(y.first, x.first);
  const WideNumber rate = WideNumber(2.0) * (x.value * x.second + y.value * y.second);
  const WideNumber turned = (x.second * y.first - y.second * x.first) / square;
  return {wide_atan2(y.value, x.value), first, derivative(y.second, x.second),
          turned + derivative(y.mixed, x.mixed) - first * (rate / square)};
}

/// -1, 0 or 1; NaN where a number has no sign.
double sign_of(const WideNumber& a) {
  const double m = a.is_bounded() ? a.value() : a.mantissa();
  return m > 0.0 ? 1.0 : m < 0.0 ? -1.0 : m;
}

/// Of the result of an instruction; nullptr for a variable or a constant.
const FormulaBytecode::Instruction* instruction_of(const FormulaBytecode& bytecode, std::size_t slot) {
  return slot < bytecode.first_result() ? nullptr : &bytecode.instructions[slot - bytecode.first_result()];
}

/// The power of an operand whose own operation `base` is known: sqrt(u)^p and |w|^p may have derivatives where sqrt(u)
/// and |w| have none.
Jet power_of_operand(const Jet& a, const FormulaBytecode::Instruction* base, const std::vector<Jet>& jets, double p) {
  if (base == nullptr || p == 0.0 || p == 1.0) return power_of(a, p);
  const Jet& inner = jets[base->a];
  if (base->operation == absolute) return power_of_magnitude(inner, p);
  if (base->operation == square_root && sign_of(inner.value) >= 0.0) return power_of(inner, 0.5 * p);
  return power_of(a, p);
}

Jet apply(const FormulaBytecode& bytecode, const FormulaBytecode::Instruction& instruction,
          const std::vector<Jet>& jets) {
  const Jet &a = jets[instruction.a], &b = jets[instruction.b], &c = jets[instruction.c];
  const auto power_of_a = [&](double p) {
    return power_of_operand(a, instruction_of(bytecode, instruction.a), jets, p);
  };
  switch (instruction.operation) {
    case add:
      return sum(a, b);
    case subtract:
      return sum(a, minus(b));
    case negate:
      return minus(a);
    case multiply:
      return instruction.a == instruction.b ? power_of_a(2.0) : product(a, b);
    case divide:
      return quotient(a, b);
    case power: {
      const bool is_fixed = b.first.is_exact_zero() && b.second.is_exact_zero() && b.mixed.is_exact_zero();
      return is_fixed ? power_of_a(b.value.value()) : variable_power(a, b);
    }
    case square_root:
      return power_of(a, 0.5);
    case select:
      return std::isnan(sign_of(a.value)) ? Jet::undefined() : sign_of(a.value) >= 0.0 ? b : c;
    case minimum:
      return sign_of(b.value - a.value) >= 0.0 || std::isnan(sign_of(a.value)) ? a : b;
    case maximum:
      return sign_of(a.value - b.value) >= 0.0 || std::isnan(sign_of(a.value)) ? a : b;
    case absolute: {
      // At 0 the derivative is between -1 and 1.
      const WideNumber sign = a.value.is_zero() ? WideNumber::bounded() : WideNumber(sign_of(a.value));
      return {sign.mantissa() < 0.0 ? -a.value : a.value, sign * a.first, sign * a.second, sign * a.mixed};
    }
    case Operation::sign:
      // At 0 it does not vanish in a neighbourhood.
      return a.value.is_zero() ? Jet{0.0, {}, {}, {}} : Jet::constant(sign_of(a.value));
    case step: {
      const double sign = sign_of(a.value);
      return Jet::constant(std::isnan(sign) ? sign : sign >= 0.0 ? 1.0 : 0.0);
    }
    case arctangent2:
      return angle(a, b);
    case bessel_j:
    case bessel_y:
    case bessel_i:
    case bessel_k:
      return compose(bessel(instruction.operation, a.value.value(), b.value.value()), b);
    case table: {
      const double number = a.value.value(), x = b.value.value();
      const double first = table_derivative(number);
      return compose({table_value(number, x), table_value(first, x), table_value(table_derivative(first), x)}, b);
    }
    default:
      return compose(taylor(instruction.operation, a.value), a);
  }
}

/// The jets of all slots.
std::vector<Jet> evaluate(const FormulaBytecode& bytecode, const FormulaOutput& output, const double* variables) {
  std::vector<Jet> jets;
  jets.reserve(bytecode.first_result() + bytecode.instructions.size());
  for (std::size_t i = 0; i < bytecode.variables; ++i) {
    const auto derivative = [&](int variable) {
      return static_cast<int>(i) == variable ? WideNumber(1.0) : WideNumber();
    };
    jets.push_back({variables[i], derivative(output.first), derivative(output.second), {}, false});
  }
  for (const double constant : bytecode.constants) jets.push_back(Jet::constant(constant));
  for (const FormulaBytecode::Instruction& instruction : bytecode.instructions) {
    Jet jet = apply(bytecode, instruction, jets);
    const bool is_selection =
        instruction.operation == select || instruction.operation == minimum || instruction.operation == maximum;
    if (!is_selection) {
      const std::size_t operand[] = {instruction.a, instruction.b, instruction.c};
      const bool is_of_constants = std::all_of(operand, operand + operands(instruction.operation),
                                               [&](std::size_t slot) { return jets[slot].is_locally_constant; });
      // Products with a function that vanishes in a neighbourhood vanish there, too.
      if (jet.is_locally_constant || is_of_constants || jet.value.is_exact_zero()) jet = Jet::constant(jet.value);
    }
    jets.push_back(jet);
  }
  return jets;
}

}  // namespace

WideEvaluation::WideEvaluation(const ExpressionGraph& graph, std::span<const FormulaOutput> outputs, int variables)
    : outputs_(outputs.begin(), outputs.end()) {
  std::vector<Expression> formulas;
  for (const FormulaOutput& output : outputs) formulas.push_back(output.formula);
  bytecode_ = bytecode_of(graph, formulas, variables);
}

double WideEvaluation::output(std::size_t index, const double* variables) const {
  const Jet jet = evaluate(bytecode_, outputs_[index], variables)[bytecode_.outputs[index]];
  const FormulaOutput& output = outputs_[index];
  return (output.first < 0 ? jet.value : output.second < 0 ? jet.first : jet.mixed).value();
}

std::string WideEvaluation::undefined_part(std::size_t index, const double* variables) const {
  const std::vector<Jet> jets = evaluate(bytecode_, outputs_[index], variables);
  std::size_t slot = bytecode_.outputs[index];
  // A result that is only too large for a double is traced to its first part of which this is true.
  const bool is_too_large = jets[slot].value.is_finite();
  const auto is_defined = [&](std::size_t i) {
    return is_too_large ? std::isfinite(jets[i].value.value()) : jets[i].value.is_finite();
  };
  if (is_defined(slot)) return "";
  while (const FormulaBytecode::Instruction* instruction = instruction_of(bytecode_, slot)) {
    const std::size_t operand[] = {instruction->a, instruction->b, instruction->c};
    const std::size_t* const end = operand + operands(instruction->operation);
    const std::size_t* const undefined = std::find_if_not(operand, end, is_defined);
    if (undefined == end) {
      const auto value = [&](std::size_t i) { return jets[i].value.value(); };
      return operation_text(instruction->operation, value(instruction->a), value(instruction->b),
                            value(instruction->c));
    }
    slot = *undefined;
  }
  return "a number that is not finite";
}

std::string find_nonfinite_subexpression(const ExpressionGraph& graph, const FormulaOutput& output,
                                         std::span<const double> variables) {
  const auto count = static_cast<int>(variables.size());
  std::vector<double> values(graph.size());
  for (const Expression part : graph.topological_order({&output.expression, 1})) {
    const ExpressionGraph::Node& node = graph[part];
    const auto value = [&](int index) { return index < 0 ? 0.0 : values[static_cast<std::size_t>(index)]; };
    values[static_cast<std::size_t>(part.index)] =
        node.operation == Operation::constant   ? node.value
        : node.operation == Operation::variable ? variables[static_cast<std::size_t>(node.a)]
                                                : evaluate(node.operation, value(node.a), value(node.b), value(node.c));
  }
  if (std::isfinite(values[static_cast<std::size_t>(output.expression.index)])) return "";
  if (std::isfinite(WideEvaluation(graph, {&output, 1}, count).output(0, variables.data()))) return "";
  const FormulaOutput symbols = output.expression;
  const std::string part = WideEvaluation(graph, {&symbols, 1}, count).undefined_part(0, variables.data());
  return part.empty() ? "a number that is not finite" : part;
}

}  // namespace bathline
