// The elementary operations that formulas are made of.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bathline {

/// The operation of a node on its operands a, b, c.
enum class Operation : std::uint8_t {
  constant,
  variable,
  add,
  subtract,
  multiply,
  divide,
  negate,
  power,
  multiply_add,       ///< a b + c, rounded once
  multiply_subtract,  ///< a b - c, rounded once
  subtract_product,   ///< c - a b, rounded once
  select,             ///< b where a >= 0, else c
  minimum,
  maximum,
  absolute,
  sign,
  step,
  square_root,
  exponential,
  logarithm,
  sine,
  cosine,
  tangent,
  arcsine,
  arccosine,
  arctangent,
  arctangent2,
  hyperbolic_sine,
  hyperbolic_cosine,
  hyperbolic_tangent,
  bessel_j,  ///< of order a at b
  bessel_y,
  bessel_i,
  bessel_k,
  table  ///< number a (`table_number`) at b
};

/// A function that formulas can call.
struct FormulaFunction {
  std::string_view name;
  Operation operation;
  int arguments;
  std::string_view doc;
  /// Whether the first argument is the order of a Bessel function, a constant integer.
  bool has_order = false;
};

/// All functions in the order of `describe formula`.
std::span<const FormulaFunction> formula_functions();
/// The function called `name`, or nullptr.
const FormulaFunction* find_formula_function(std::string_view name);

/// Number of operands; 0 for constants and variables.
int operands(Operation operation);
/// The function of an elementary operation of one argument, or nullptr. Accurate to 1 unit in the last place, with the
/// same bits on every processor.
double (*elementary_function(Operation operation))(double);
/// Computes both in the time of one and returns the sine, with the bits of the separate functions.
double sine_and_cosine(double a, double* cosine);
/// The value of an operation that is not arithmetic; NaN for constants and variables.
double evaluate_function(Operation operation, double a, double b);
/// The value of an operation, computed as programs execute it; surplus operands are ignored. NaN or an infinity where
/// it is undefined; never throws.
inline double evaluate(Operation operation, double a, double b, double c) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::negate:
      return -a;
    case Operation::multiply_add:
      return std::fma(a, b, c);
    case Operation::multiply_subtract:
      return std::fma(a, b, -c);
    case Operation::subtract_product:
      return std::fma(-a, b, c);
    case Operation::select:
      return std::isnan(a) ? a : a >= 0.0 ? b : c;
    default:
      return evaluate_function(operation, a, b);
  }
}
/// How the operation on these numbers is written: "sqrt(-1)", "1/0".
std::string operation_text(Operation operation, double a, double b, double c);

}  // namespace bathline
