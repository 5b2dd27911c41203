// Values of the elementary operations.
// Tested by tests/formula/derivative_test.cpp.
#include "formula/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

namespace bathline {

namespace {

using enum Operation;

constexpr FormulaFunction functions[] = {
    {"sin", sine, 1, "sine of radians"},
    {"cos", cosine, 1, "cosine"},
    {"tan", tangent, 1, "tangent"},
    {"asin", arcsine, 1, "inverse sine, from -pi/2 to pi/2"},
    {"acos", arccosine, 1, "inverse cosine, from 0 to pi"},
    {"atan", arctangent, 1, "inverse tangent, from -pi/2 to pi/2"},
    {"atan2", arctangent2, 2, "atan2(y, x): angle of the point (x, y), from -pi to pi"},
    {"sinh", hyperbolic_sine, 1, "hyperbolic sine"},
    {"cosh", hyperbolic_cosine, 1, "hyperbolic cosine"},
    {"tanh", hyperbolic_tangent, 1, "hyperbolic tangent"},
    {"exp", exponential, 1, "exponential function"},
    {"log", logarithm, 1, "natural logarithm"},
    {"sqrt", square_root, 1, "square root"},
    {"pow", power, 2, "pow(a, b) = a^b"},
    {"min", minimum, 2, "the smaller of two; its derivative is that of the one it takes, of the first where equal"},
    {"max", maximum, 2, "the larger of two, likewise"},
    {"abs", absolute, 1, "magnitude; its derivative is sign"},
    {"sign", sign, 1, "-1, 0 or 1; its derivative counts as 0"},
    {"step", step, 1, "0 below 0, 1 from 0 on; its derivative counts as 0"},
    {.name = "bessel_j",
     .operation = bessel_j,
     .arguments = 2,
     .doc = "bessel_j(n, x): Bessel function of the first kind, n = 0, 1, ... a number",
     .has_order = true},
    {.name = "bessel_y",
     .operation = bessel_y,
     .arguments = 2,
     .doc = "bessel_y(n, x): of the second kind, x > 0",
     .has_order = true},
    {.name = "bessel_i",
     .operation = bessel_i,
     .arguments = 2,
     .doc = "bessel_i(n, x): modified, of the first kind",
     .has_order = true},
    {.name = "bessel_k",
     .operation = bessel_k,
     .arguments = 2,
     .doc = "bessel_k(n, x): modified, of the second kind, x > 0",
     .has_order = true},
};

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// The standard library throws where a Bessel function has no value or does not converge.
double bessel(double (*function)(double, double), double order, double x) {
  try {
    return function(order, x);
  } catch (const std::exception&) {
    return no_value;
  }
}

/// One of those that are even or odd as their order is; the standard library has them for x >= 0.
double bessel_on_both_sides(double (*function)(double, double), double order, double x) {
  const double value = bessel(function, order, std::abs(x));
  return x < 0.0 && std::fmod(order, 2.0) != 0.0 ? -value : value;
}

}  // namespace

std::span<const FormulaFunction> formula_functions() { return functions; }

const FormulaFunction* find_formula_function(std::string_view name) {
  const auto* found = std::find_if(std::begin(functions), std::end(functions),
                                   [&](const FormulaFunction& function) { return function.name == name; });
  return found == std::end(functions) ? nullptr : found;
}

int operands(Operation operation) {
  switch (operation) {
    case constant:
    case variable:
      return 0;
    case add:
    case subtract:
    case multiply:
    case divide:
      return 2;
    case negate:
      return 1;
    case multiply_add:
    case multiply_subtract:
    case subtract_product:
    case choose:
      return 3;
    default:
      break;
  }
  const auto* found = std::find_if(std::begin(functions), std::end(functions),
                                   [&](const FormulaFunction& function) { return function.operation == operation; });
  return found->arguments;
}

double evaluate_function(Operation operation, double a, double b) {
  switch (operation) {
    case power:
      return std::pow(a, b);
    case minimum:
      return a <= b || std::isnan(a) ? a : b;
    case maximum:
      return a >= b || std::isnan(a) ? a : b;
    case absolute:
      return std::abs(a);
    case sign:
      return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a;
    case step:
      return std::isnan(a) ? a : a >= 0.0 ? 1.0 : 0.0;
    case square_root:
      return std::sqrt(a);
    case exponential:
      return std::exp(a);
    case logarithm:
      return std::log(a);
    case sine:
      return std::sin(a);
    case cosine:
      return std::cos(a);
    case tangent:
      return std::tan(a);
    case arcsine:
      return std::asin(a);
    case arccosine:
      return std::acos(a);
    case arctangent:
      return std::atan(a);
    case arctangent2:
      return std::atan2(a, b);
    case hyperbolic_sine:
      return std::sinh(a);
    case hyperbolic_cosine:
      return std::cosh(a);
    case hyperbolic_tangent:
      return std::tanh(a);
    case bessel_j:
      return bessel_on_both_sides(std::cyl_bessel_j, a, b);
    case bessel_y:
      return bessel(std::cyl_neumann, a, b);
    case bessel_i:
      return bessel_on_both_sides(std::cyl_bessel_i, a, b);
    case bessel_k:
      return bessel(std::cyl_bessel_k, a, b);
    default:
      return no_value;
  }
}

std::string written_operation(Operation operation, double a, double b, double c) {
  for (const FormulaFunction& function : functions) {
    if (function.operation != operation || operation == power) continue;
    return function.arguments == 1 ? fmt::format("{}({})", function.name, a)
                                   : fmt::format("{}({}, {})", function.name, a, b);
  }
  switch (operation) {
    case add:
      return fmt::format("{} + {}", a, b);
    case subtract:
      return fmt::format("{} - {}", a, b);
    case multiply:
      return fmt::format("{}*{}", a, b);
    case divide:
      return fmt::format("{}/{}", a, b);
    case power:
      return fmt::format("({})^({})", a, b);
    case multiply_add:
      return fmt::format("{}*{} + {}", a, b, c);
    case multiply_subtract:
      return fmt::format("{}*{} - {}", a, b, c);
    case subtract_product:
      return fmt::format("{} - {}*{}", c, a, b);
    default:
      return "a constant";
  }
}

}  // namespace bathline
