// Elementary functions of doubles and of registers of them, with the same bits for both.
// Tested by tests/simd/elementary_test.cpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "simd/simd_double.hpp"

namespace bathline {

/// The larger number, lane by lane; b where one of them is NaN.
inline double larger(double a, double b) { return a > b ? a : b; }
inline SimdDouble larger(SimdDouble a, SimdDouble b) {
#if defined(__AVX512F__)
  return _mm512_max_pd(a, b);
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}
/// The smaller number, likewise.
inline double smaller(double a, double b) { return a < b ? a : b; }
inline SimdDouble smaller(SimdDouble a, SimdDouble b) {
#if defined(__AVX512F__)
  return _mm512_min_pd(a, b);
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_min_pd(a, b);
#else
  return a < b ? a : b;
#endif
}

inline double square_root(double x) { return std::sqrt(x); }
inline SimdDouble square_root(SimdDouble x) {
#if defined(__AVX512F__)
  return _mm512_sqrt_pd(x);
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_sqrt_pd(x);
#else
  for (int i = 0; i < simd_width; ++i) x[i] = std::sqrt(x[i]);
  return x;
#endif
}

/// 2^n for the integer n that is in the last bits of the number n + 3 2^51.
inline double power_of_two(double shifted) {
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) << 52) + std::bit_cast<std::uint64_t>(1.0));
}
inline SimdDouble power_of_two(SimdDouble shifted) {
  using Bits = std::uint64_t __attribute__((vector_size(simd_width * sizeof(std::uint64_t))));
  return std::bit_cast<SimdDouble>((std::bit_cast<Bits>(shifted) << 52) + std::bit_cast<std::uint64_t>(1.0));
}

/// exp(x) - 1 to 3 units in the last place, also near 0. Below -708 it is -1, and above 709 what it is there. Source:
/// Cody and Waite's reduction to |r| <= ln(2)/2 (muller2016, section 11.2), then (exp(r) - 1 - r)/r^2 interpolated at
/// ten Chebyshev points.
template <class Number>
[[gnu::always_inline]] inline Number exponential_minus_one(Number x) {
  const auto number = [](double value) { return splat<Number>(value); };
  x = smaller(number(709.0), larger(number(-708.0), x));  // in this order NaN stays NaN
  constexpr double to_integer = 0x1.8p52;
  const Number shifted = multiply_add(x, number(0x1.71547652b82fep+0), number(to_integer));
  const Number n = shifted - to_integer;
  Number r = multiply_add(n, number(-0x1.62e42fefa3800p-1), x);
  r = multiply_add(n, number(-0x1.ef35793c76730p-45), r);
  const Number r2 = r * r, r4 = r2 * r2;
  const auto pair = [&](double low, double high) { return multiply_add(number(high), r, number(low)); };
  const Number low = multiply_add(r2, pair(0x1.5555555553d63p-5, 0x1.11111111109b3p-7),
                                  pair(0x1.0000000000001p-1, 0x1.5555555555556p-3));
  const Number middle = multiply_add(r2, pair(0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19),
                                     pair(0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13));
  const Number high = pair(0x1.289185613a3d6p-22, 0x1.af38a9b0ec855p-26);
  const Number series = multiply_add(r4, multiply_add(r4, high, middle), low);
  const Number of_r = multiply_add(r2, series, r), scale = power_of_two(shifted);
  return multiply_add(scale, of_r, scale - 1.0);
}

}  // namespace bathline
