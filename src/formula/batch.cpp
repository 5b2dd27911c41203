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

}  // namespace

FormulaBatch::FormulaBatch(const ExpressionGraph& graph, std::span<const FormulaOutput> outputs, int variables)
    : program_(graph, outputs, variables),
      bytecode_(lowered_bytecode(graph, outputs, variables)),
      variables_(bytecode_.variables),
      outputs_(outputs.size()) {
  memory_.resize(points * (bytecode_.first_result() + bytecode_.instructions.size()));
  double* slot = memory_.data() + points * bytecode_.variables;
  for (const double constant : bytecode_.constants) slot = std::fill_n(slot, points, constant);
}

void FormulaBatch::run(std::span<const double> x, std::span<double> values) const {
  constexpr std::size_t few = 8;
  const std::size_t count = values.size() / outputs_.size();
  for (std::size_t first = 0; first < count; first += points) {
    const std::size_t size = std::min(points, count - first);
    if (size > few) {
      run_batch(x.data(), values.data(), count, first, size);
    } else {
      for (std::size_t i = first; i < count; ++i) run_point(x.data(), values.data(), count, i);
    }
  }
}

void FormulaBatch::run_batch(const double* x, double* values, std::size_t count, std::size_t first,
                             std::size_t size) const {
  const auto slot = [this](std::size_t number) { return memory_.data() + points * number; };
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    double* const end = std::copy_n(x + v * count + first, size, slot(v));
    std::fill_n(end, points - size, 0.0);
  }
  double* result = slot(bytecode_.first_result());
  for (const FormulaBytecode::Instruction& instruction : bytecode_.instructions) {
    apply_to_batch<points>(instruction.operation, result, slot(instruction.a), slot(instruction.b),
                           slot(instruction.c));
    result += points;
  }
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    double* const value = values + o * count + first;
    std::copy_n(slot(bytecode_.outputs[o]), size, value);
    for (std::size_t i = 0; i < size; ++i) {
      if (!std::isfinite(value[i])) [[unlikely]]
        run_point(x, values, count, first + i);
    }
  }
}

void FormulaBatch::run_point(const double* x, double* values, std::size_t count, std::size_t point) const {
  for (std::size_t v = 0; v < variables_.size(); ++v) variables_[v] = x[v * count + point];
  program_.run(variables_.data(), outputs_.data());
  for (std::size_t o = 0; o < outputs_.size(); ++o) values[o * count + point] = outputs_[o];
}

}  // namespace bathline
