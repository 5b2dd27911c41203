// Values of the elementary operations.
// Tested by tests/formula/derivative_test.cpp.
#include "formula/operation.hpp"

#include <fmt/format.h>
#include <sleef.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "formula/table.hpp"

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
    {"min", minimum, 2,
     "the smaller of two; its derivative is that of the smaller one, of the first if they are equal"},
    {"max", maximum, 2, "the larger of two; derivative as of min"},
    {"abs", absolute, 1, "magnitude; its derivative is sign"},
    {"sign", sign, 1, "-1, 0 or 1; its derivative counts as 0"},
    {"step", step, 1, "0 below 0, 1 from 0 on; its derivative counts as 0"},
    {"where", select, 3,
     "where(x < y, a, b): a where the comparison (<, <=, >, >=, ==, !=) holds, else b; derivative that of the active "
     "one"},
    {.name = "bessel_j",
     .operation = bessel_j,
     .arguments = 2,
     .doc = "bessel_j(n, x): Bessel function of the first kind, n = 0, 1, ... a constant",
     .has_order = true},
    {.name = "bessel_y",
     .operation = bessel_y,
     .arguments = 2,
     .doc = "bessel_y(n, x): Bessel function of the second kind, x > 0",
     .has_order = true},
    {.name = "bessel_i",
     .operation = bessel_i,
     .arguments = 2,
     .doc = "bessel_i(n, x): modified Bessel function of the first kind",
     .has_order = true},
    {.name = "bessel_k",
     .operation = bessel_k,
     .arguments = 2,
     .doc = "bessel_k(n, x): modified Bessel function of the second kind, x > 0",
     .has_order = true},
    {"table", table, 2,
     "table(\"force.dat\", t): the columns t and value of a file as a cubic spline, with a last argument \"linear\" by "
     "straight lines, which go on for one interval at both ends and have no value beyond"},
};

// SLEEF's functions of registers have the bits of those of numbers and take two thirds of their time.
#if defined(__AVX__)
#define BATHLINE_SLEEF(name) Sleef_cinz_##name##d4_u10avx
__m256d in_register(double a) { return _mm256_set1_pd(a); }
double first(__m256d a) { return _mm256_cvtsd_f64(a); }
#else
#define BATHLINE_SLEEF(name) Sleef_cinz_##name##d1_u10purec
double in_register(double a) { return a; }
double first(double a) { return a; }
#endif

/// A function of SLEEF with a plain type.
template <auto function>
double value(double a) {
  return first(function(in_register(a)));
}

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// The standard library throws where a Bessel function has no value or does not converge. It computes from sines and
/// exponentials of the C library, which for `long double` are one code for all processors of an architecture.
double bessel(long double (*function)(long double, long double), double order, double x) {
  try {
    return static_cast<double>(function(order, x));
  } catch (const std::exception&) {
    return no_value;
  }
}

/// For functions whose parity is that of the order; the standard library has them for x >= 0.
double bessel_on_both_sides(long double (*function)(long double, long double), double order, double x) {
  const double value = bessel(function, order, std::abs(x));
  return x < 0.0 && std::fmod(order, 2.0) != 0.0 ? -value : value;
}

}  // namespace

std::span<const FormulaFunction> formula_functions() { return functions; }

const FormulaFunction* find_formula_function(std::string_view name) {
  const auto* result = std::find_if(std::begin(functions), std::end(functions),
                                    [&](const FormulaFunction& function) { return function.name == name; });
  return result == std::end(functions) ? nullptr : result;
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
    case select:
      return 3;
    default:
      break;
  }
  const auto* result = std::find_if(std::begin(functions), std::end(functions),
                                    [&](const FormulaFunction& function) { return function.operation == operation; });
  return result->arguments;
}

double (*elementary_function(Operation operation))(double) {
  // Not those of the C library, which selects an implementation by processor, with different last bits.
  switch (operation) {
    case exponential:
      return value<BATHLINE_SLEEF(exp)>;
    case logarithm:
      return value<BATHLINE_SLEEF(log)>;
    case sine:
      return [](double a) { return first(BATHLINE_SLEEF(sincos)(in_register(a)).x); };
    case cosine:
      return [](double a) { return first(BATHLINE_SLEEF(sincos)(in_register(a)).y); };
    case tangent:
      return value<BATHLINE_SLEEF(tan)>;
    case arcsine:
      return value<BATHLINE_SLEEF(asin)>;
    case arccosine:
      return value<BATHLINE_SLEEF(acos)>;
    case arctangent:
      return value<BATHLINE_SLEEF(atan)>;
    case hyperbolic_sine:
      return value<BATHLINE_SLEEF(sinh)>;
    case hyperbolic_cosine:
      return value<BATHLINE_SLEEF(cosh)>;
    case hyperbolic_tangent:
      return value<BATHLINE_SLEEF(tanh)>;
    default:
      return nullptr;
  }
}

double sine_and_cosine(double a, double* cosine) {
  const auto both = BATHLINE_SLEEF(sincos)(in_register(a));
  *cosine = first(both.y);
  return first(both.x);
}

double evaluate_function(Operation operation, double a, double b) {
  switch (operation) {
    case power:
      return first(BATHLINE_SLEEF(pow)(in_register(a), in_register(b)));
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
    case arctangent2:
      return first(BATHLINE_SLEEF(atan2)(in_register(a), in_register(b)));
    case bessel_j:
      return bessel_on_both_sides(std::cyl_bessel_j, a, b);
    case bessel_y:
      return bessel(std::cyl_neumann, a, b);
    case bessel_i:
      return bessel_on_both_sides(std::cyl_bessel_i, a, b);
    case bessel_k:
      return bessel(std::cyl_bessel_k, a, b);
    case table:
      return table_value(a, b);
    default: {
      double (*const function)(double) = elementary_function(operation);
      return function != nullptr ? function(a) : no_value;
    }
  }
}

std::string operation_text(Operation operation, double a, double b, double c) {
  if (operation == table) return table_text(a, b);
  for (const FormulaFunction& function : functions) {
    if (function.operation != operation || operation == power || operation == select) continue;
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
    case select:
      return fmt::format("where({} >= 0, {}, {})", a, b, c);
    default:
      return "a constant";
  }
}

}  // namespace bathline
