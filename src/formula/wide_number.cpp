// Arithmetic and elementary functions of wide numbers.
// Tested by tests/formula/wide_evaluation_test.cpp.
#include "formula/wide_number.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "formula/operation.hpp"

namespace bathline {

namespace {

constexpr std::int64_t max_exponent = 1'000'000'000'000'000;
/// Beyond any exponent of a double.
constexpr std::int64_t double_exponents = 3000;

// log(2) as a sum of two doubles.
constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2_rest = 0x1.abc9e3b39803fp-56;

double call(Operation operation, double a) { return evaluate_function(operation, a, 0.0); }

/// e^(whole ln(2) + rest) for a small rest.
WideNumber exp_of_split(double whole, double rest) {
  if (!(std::abs(whole) <= static_cast<double>(max_exponent))) {
    return std::isnan(whole) ? whole : whole > 0.0 ? std::numeric_limits<double>::infinity() : 0.0;
  }
  return WideNumber::scaled(call(Operation::exponential, rest), static_cast<std::int64_t>(whole));
}

}  // namespace

WideNumber::WideNumber(double value) { *this = scaled(value, 0); }

WideNumber WideNumber::scaled(double value, std::int64_t exponent) {
  if (value == 0.0 || !std::isfinite(value)) return {Kind::number, value, 0};
  int shift = 0;
  const double mantissa = std::frexp(value, &shift);
  exponent += shift;
  if (exponent > max_exponent) return std::copysign(std::numeric_limits<double>::infinity(), value);
  if (exponent < -max_exponent) return 0.0;
  return {Kind::number, mantissa, exponent};
}

WideNumber WideNumber::bounded() { return {Kind::bounded, 0.0, 0}; }

WideNumber WideNumber::undefined() { return std::numeric_limits<double>::quiet_NaN(); }

double WideNumber::value() const {
  if (is_bounded()) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(mantissa_, static_cast<int>(std::clamp(exponent_, -double_exponents, double_exponents)));
}

bool WideNumber::is_finite() const { return !is_bounded() && std::isfinite(mantissa_); }

WideNumber operator-(const WideNumber& a) { return {a.kind_, -a.mantissa_, a.exponent_}; }

WideNumber operator+(const WideNumber& a, const WideNumber& b) {
  if (a.is_exact_zero()) return b;
  if (b.is_exact_zero()) return a;
  if (!a.is_finite() || !b.is_finite()) {
    const bool is_limited = (a.is_finite() || a.is_bounded()) && (b.is_finite() || b.is_bounded());
    return is_limited ? WideNumber::bounded() : WideNumber(a.value() + b.value());
  }
  if (a.mantissa_ == 0.0) return b;
  if (b.mantissa_ == 0.0) return a;
  if (a.exponent_ < b.exponent_) return b + a;
  const std::int64_t distance = std::min(a.exponent_ - b.exponent_, double_exponents);
  return WideNumber::scaled(a.mantissa_ + std::ldexp(b.mantissa_, -static_cast<int>(distance)), a.exponent_);
}

WideNumber operator*(const WideNumber& a, const WideNumber& b) {
  if (a.is_exact_zero() || b.is_exact_zero()) return {};
  if (a.is_bounded() || b.is_bounded()) {
    if (a.is_zero() || b.is_zero()) return 0.0;
    const bool is_limited = (a.is_finite() || a.is_bounded()) && (b.is_finite() || b.is_bounded());
    return is_limited ? WideNumber::bounded() : WideNumber::undefined();
  }
  return WideNumber::scaled(a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_);
}

WideNumber operator/(const WideNumber& a, const WideNumber& b) {
  if (a.is_exact_zero()) return {};
  if (b.is_exact_zero() || b.is_bounded()) return a / WideNumber(b.value());
  if (a.is_bounded()) {
    if (std::isinf(b.mantissa_)) return 0.0;
    return b.is_finite() && !b.is_zero() ? WideNumber::bounded() : WideNumber::undefined();
  }
  return WideNumber::scaled(a.mantissa_ / b.mantissa_, a.exponent_ - b.exponent_);
}

WideNumber wide_root(const WideNumber& a) {
  if (!a.is_finite()) return std::sqrt(a.value());
  const std::int64_t odd = a.exponent() & 1;
  return WideNumber::scaled(std::sqrt(odd != 0 ? 2.0 * a.mantissa() : a.mantissa()), (a.exponent() - odd) / 2);
}

WideNumber wide_exp(const WideNumber& a) {
  const double x = a.value();
  if (!std::isfinite(x)) return call(Operation::exponential, x);
  const double whole = std::nearbyint(x * (1.0 / std::numbers::ln2));
  return exp_of_split(whole, std::fma(-whole, ln2, x) - whole * ln2_rest);
}

WideNumber wide_log(const WideNumber& a) {
  const double x = a.value();
  if (std::isnormal(x) || !a.is_finite() || a.is_zero()) return call(Operation::logarithm, x);
  const auto exponent = static_cast<double>(a.exponent());
  return std::fma(exponent, ln2, exponent * ln2_rest + call(Operation::logarithm, a.mantissa()));
}

WideNumber wide_power(const WideNumber& a, double exponent) {
  constexpr double max_product = 32.0;
  if (exponent == 0.0) return 1.0;
  if (a.is_bounded() || std::isnan(exponent)) return WideNumber::undefined();
  const bool is_whole = exponent == std::floor(exponent);
  if (is_whole && std::abs(exponent) <= max_product) {
    WideNumber result = 1.0;
    for (int i = 0; i < static_cast<int>(std::abs(exponent)); ++i) result = result * a;
    return exponent < 0.0 ? WideNumber(1.0) / result : result;
  }
  if (a.is_zero() || !a.is_finite()) return evaluate_function(Operation::power, a.value(), exponent);
  if (a.mantissa() < 0.0 && !is_whole) return WideNumber::undefined();
  // a^p = 2^(p e) m^p, where p e is split into a whole number and the rest.
  const auto e = static_cast<double>(a.exponent());
  const double product = exponent * e, error = std::fma(exponent, e, -product);
  const double log = exponent * call(Operation::logarithm, std::abs(a.mantissa()));
  const double whole = std::nearbyint(product + log * (1.0 / std::numbers::ln2));
  const double rest = ((product - whole) + error) * ln2 + log;
  const WideNumber result = exp_of_split(whole, rest);
  return a.mantissa() < 0.0 && std::fmod(exponent, 2.0) != 0.0 ? -result : result;
}

namespace {

/// (e^a + sign e^-a)/2, without the cancellation of small arguments.
WideNumber half_sum(Operation operation, const WideNumber& a, double sign) {
  constexpr double large = 20.0;
  const double x = a.value();
  if (!(std::abs(x) > large)) return call(operation, x);
  return WideNumber(0.5) * (wide_exp(a) + WideNumber(sign) * wide_exp(-a));
}

}  // namespace

WideNumber wide_sinh(const WideNumber& a) { return half_sum(Operation::hyperbolic_sine, a, -1.0); }

WideNumber wide_cosh(const WideNumber& a) { return half_sum(Operation::hyperbolic_cosine, a, 1.0); }

WideNumber wide_atan2(const WideNumber& y, const WideNumber& x) {
  const bool is_scaled = y.is_finite() && x.is_finite() && !y.is_zero() && !x.is_zero();
  const std::int64_t exponent = is_scaled ? std::max(y.exponent(), x.exponent()) : 0;
  const WideNumber unit = WideNumber::scaled(1.0, -exponent);
  return evaluate_function(Operation::arctangent2, (y * unit).value(), (x * unit).value());
}

}  // namespace bathline
