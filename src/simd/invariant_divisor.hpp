// Division by a loop-invariant divisor.
//
// Let y be the inverse of b rounded to nearest, and q next to a/b. Then the residual r = a - b q is exact in one fused
// operation, and q + r y, rounded, is a/b rounded: the bits of a division, which takes longer. A first such correction
// brings a y next to a/b. Where b is a power of two, a y is all. Source: markstein1990.
// Tested by tests/simd/invariant_divisor_test.cpp.
#pragma once

#include <cmath>

#include "simd/simd_double.hpp"

namespace bathline {

/// Whether the magnitude of every lane lies in [low, high]; false for NaN.
inline bool all_lanes_between(SimdDouble x, double low, double high) {
#if defined(__AVX512F__)
  const SimdDouble size = _mm512_abs_pd(x);
  return (_mm512_cmp_pd_mask(size, _mm512_set1_pd(low), _CMP_GE_OQ) &
          _mm512_cmp_pd_mask(size, _mm512_set1_pd(high), _CMP_LE_OQ)) == 0xff;
#elif defined(__AVX2__) && defined(__FMA__)
  const SimdDouble size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
  return _mm256_movemask_pd(_mm256_and_pd(_mm256_cmp_pd(size, _mm256_set1_pd(low), _CMP_GE_OQ),
                                          _mm256_cmp_pd(size, _mm256_set1_pd(high), _CMP_LE_OQ))) == 0xf;
#else
  bool all = true;
  for (int i = 0; i < simd_width; ++i) all = all & (std::abs(x[i]) >= low) & (std::abs(x[i]) <= high);
  return all;
#endif
}

/// x / divisor, to the bit.
class InvariantDivisor {
 public:
  InvariantDivisor() = default;
  explicit InvariantDivisor(double divisor)
      : divisor_(divisor),
        inverse_(1.0 / divisor),
        is_moderate_(std::abs(divisor) > 1e-30 && std::abs(divisor) < 1e30),
        is_power_of_two_(is_moderate_ && std::abs(mantissa(divisor)) == 0.5) {}

  double divide(double x) const { return is_power_of_two_ ? x * inverse_ : x / divisor_; }
  /// Within these bounds no residual overflows or underflows.
  SimdDouble divide(SimdDouble x) const {
    if (is_power_of_two_) return x * inverse_;
    if (!is_moderate_ || !all_lanes_between(x, 1e-200, 1e200)) return x / divisor_;
    const SimdDouble minus = splat(-divisor_), inverse = splat(inverse_);
    const SimdDouble rough = x * inverse, close = multiply_add(multiply_add(rough, minus, x), inverse, rough);
    return multiply_add(multiply_add(close, minus, x), inverse, close);
  }

 private:
  static double mantissa(double x) {
    int exponent = 0;
    return std::frexp(x, &exponent);
  }

  double divisor_ = 1.0, inverse_ = 1.0;
  bool is_moderate_ = true, is_power_of_two_ = true;
};

}  // namespace bathline
