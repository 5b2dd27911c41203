// Numbers that neither overflow nor underflow where doubles do.
#pragma once

#include <cstdint>

namespace bathline {

/// m 2^e with the precision of a double and an exponent of up to 10^15, infinities and NaN. Two further values describe
/// singular points: the exact zero is a function that vanishes in a neighbourhood, so that every product and quotient
/// of it vanishes as well, and a bounded number has no value but is known to be finite, as x/|x| at x = 0 is, so that
/// its product with zero is zero.
class WideNumber {
 public:
  WideNumber() = default;  ///< the exact zero
  WideNumber(double value);
  /// value 2^exponent.
  static WideNumber scaled(double value, std::int64_t exponent);
  static WideNumber bounded();
  static WideNumber undefined();

  /// Rounded to a double; NaN for a bounded number.
  double value() const;
  bool is_exact_zero() const { return kind_ == Kind::exact_zero; }
  bool is_zero() const { return mantissa_ == 0.0 && kind_ != Kind::bounded; }
  bool is_bounded() const { return kind_ == Kind::bounded; }
  bool is_finite() const;
  /// A mantissa in [1/2, 1), with a sign; zero, infinite or NaN as the number.
  double mantissa() const { return mantissa_; }
  std::int64_t exponent() const { return exponent_; }

  friend WideNumber operator-(const WideNumber& a);
  friend WideNumber operator+(const WideNumber& a, const WideNumber& b);
  friend WideNumber operator-(const WideNumber& a, const WideNumber& b) { return a + -b; }
  friend WideNumber operator*(const WideNumber& a, const WideNumber& b);
  friend WideNumber operator/(const WideNumber& a, const WideNumber& b);

 private:
  enum class Kind : std::uint8_t { exact_zero, number, bounded };
  WideNumber(Kind kind, double mantissa, std::int64_t exponent)
      : kind_(kind), mantissa_(mantissa), exponent_(exponent) {}

  Kind kind_ = Kind::exact_zero;
  double mantissa_ = 0.0;
  std::int64_t exponent_ = 0;
};

WideNumber wide_root(const WideNumber& a);
WideNumber wide_exp(const WideNumber& a);
WideNumber wide_log(const WideNumber& a);
/// For negative a the exponent must be a whole number.
WideNumber wide_power(const WideNumber& a, double exponent);
WideNumber wide_sinh(const WideNumber& a);
WideNumber wide_cosh(const WideNumber& a);
WideNumber wide_atan2(const WideNumber& y, const WideNumber& x);

}  // namespace bathline
