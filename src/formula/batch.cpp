// An expression at many points: an interpreter of bytecode whose slots are batches.
// Tested by tests/formula/program_test.cpp.
#include "formula/batch.hpp"

#include <sleef.h>

#include <algorithm>
#include <cmath>

#include "formula/lowering.hpp"

namespace bathline {

namespace {

/// Applies a function to all points; the loop becomes register operations for arithmetic.
template <std::size_t points, class Function, class... Operand>
[[gnu::always_inline]] inline void at_all_points(double* result, Function function, const Operand*... operand) {
  for (std::size_t i = 0; i < points; ++i) result[i] = function(operand[i]...);
}

#if defined(__AVX__)
/// SLEEF's functions of registers have the bits of those of numbers.
template <std::size_t points, auto function>
void by_sleef(double* result, const double* a) {
  for (std::size_t i = 0; i < points; i += 4) _mm256_storeu_pd(result + i, function(_mm256_loadu_pd(a + i)));
}
template <std::size_t points>
bool apply_sleef(Operation operation, double* result, const double* a, const double* b) {
  switch (operation) {
    case Operation::exponential:
      by_sleef<points, Sleef_cinz_expd4_u10avx>(result, a);
      return true;
    case Operation::logarithm:
      by_sleef<points, Sleef_cinz_logd4_u10avx>(result, a);
      return true;
    case Operation::tangent:
      by_sleef<points, Sleef_cinz_tand4_u10avx>(result, a);
      return true;
    case Operation::hyperbolic_sine:
      by_sleef<points, Sleef_cinz_sinhd4_u10avx>(result, a);
      return true;
    case Operation::hyperbolic_cosine:
      by_sleef<points, Sleef_cinz_coshd4_u10avx>(result, a);
      return true;
    case Operation::hyperbolic_tangent:
      by_sleef<points, Sleef_cinz_tanhd4_u10avx>(result, a);
      return true;
    case Operation::sine:
    case Operation::cosine:
      for (std::size_t i = 0; i < points; i += 4) {
        const auto both = Sleef_cinz_sincosd4_u10avx(_mm256_loadu_pd(a + i));
        _mm256_storeu_pd(result + i, operation == Operation::sine ? both.x : both.y);
      }
      return true;
    case Operation::power:
      for (std::size_t i = 0; i < points; i += 4)
        _mm256_storeu_pd(result + i, Sleef_cinz_powd4_u10avx(_mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i)));
      return true;
    default:
      return false;
  }
}
#else
template <std::size_t points>
bool apply_sleef(Operation, double*, const double*, const double*) {
  return false;
}
#endif

template <std::size_t points>
void apply_to_batch(Operation operation, double* result, const double* a, const double* b, const double* c) {
  switch (operation) {
    case Operation::add:
      return at_all_points<points>(
          result, [](double x, double y) { return x + y; }, a, b);
    case Operation::subtract:
      return at_all_points<points>(
          result, [](double x, double y) { return x - y; }, a, b);
    case Operation::multiply:
      return at_all_points<points>(
          result, [](double x, double y) { return x * y; }, a, b);
    case Operation::divide:
      return at_all_points<points>(
          result, [](double x, double y) { return x / y; }, a, b);
    case Operation::negate:
      return at_all_points<points>(
          result, [](double x) { return -x; }, a);
    case Operation::square_root:
      return at_all_points<points>(
          result, [](double x) { return std::sqrt(x); }, a);
    case Operation::multiply_add:
      return at_all_points<points>(
          result, [](double x, double y, double z) { return std::fma(x, y, z); }, a, b, c);
    case Operation::multiply_subtract:
      return at_all_points<points>(
          result, [](double x, double y, double z) { return std::fma(x, y, -z); }, a, b, c);
    case Operation::subtract_product:
      return at_all_points<points>(
          result, [](double x, double y, double z) { return std::fma(-x, y, z); }, a, b, c);
    default:
      break;
  }
  if (apply_sleef<points>(operation, result, a, b)) return;
  for (std::size_t i = 0; i < points; ++i) result[i] = evaluate(operation, a[i], b[i], c[i]);
}

FormulaBytecode lowered_bytecode(const ExpressionGraph& graph, Expression output) {
  const LoweredExpressions lowered(graph, std::vector<Expression>{output});
  return bytecode_of(lowered.graph(), lowered.outputs(), 1);
}

}  // namespace

FormulaBatch::FormulaBatch(const ExpressionGraph& graph, const FormulaOutput& output)
    : program_(graph, std::span(&output, 1), 1), bytecode_(lowered_bytecode(graph, output.expression)) {
  memory_.resize(points * (bytecode_.first_result() + bytecode_.instructions.size()));
  double* slot = memory_.data() + points * bytecode_.variables;
  for (const double constant : bytecode_.constants) slot = std::fill_n(slot, points, constant);
}

void FormulaBatch::run(std::span<const double> x, std::span<double> values) const {
  std::size_t i = 0;
  for (; i + points <= x.size(); i += points) run_batch(x.data() + i, values.data() + i);
  if (i == x.size()) return;
  double rest[points] = {}, of_rest[points];
  std::copy(x.begin() + static_cast<std::ptrdiff_t>(i), x.end(), rest);
  run_batch(rest, of_rest);
  std::copy_n(of_rest, x.size() - i, values.data() + i);
}

void FormulaBatch::run_batch(const double* x, double* values) const {
  std::copy_n(x, points, memory_.data());
  double* result = memory_.data() + points * bytecode_.first_result();
  const auto slot = [this](std::size_t number) { return memory_.data() + points * number; };
  for (const FormulaBytecode::Instruction& instruction : bytecode_.instructions) {
    apply_to_batch<points>(instruction.operation, result, slot(instruction.a), slot(instruction.b),
                           slot(instruction.c));
    result += points;
  }
  std::copy_n(slot(bytecode_.outputs.front()), points, values);
  for (std::size_t i = 0; i < points; ++i) {
    if (!std::isfinite(values[i])) [[unlikely]]
      values[i] = program_.run(x + i);
  }
}

}  // namespace bathline
