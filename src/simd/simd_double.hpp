// A vector register of doubles, for loops that keep their state in registers. Its width changes no result of explicit
// schemes, and results of implicit schemes by round-off only.
// Tested by tests/parallel/reproducible_sum_test.cpp.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#endif

namespace bathline {

#if defined(__AVX512F__)
inline constexpr int simd_width = 8;
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr int simd_width = 4;
#else
inline constexpr int simd_width = 2;
#endif

/// Has the operators of a double, lane by lane.
using SimdDouble = double __attribute__((vector_size(simd_width * sizeof(double))));

/// `x` in every lane. The compiler drops the subtraction of zero, but not an addition, which turns -0 into +0.
template <class Number = SimdDouble>
Number splat(double x) {
  return x - Number{};
}

inline SimdDouble load(const double* from) {
  SimdDouble value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline void store(SimdDouble value, double* to) { std::memcpy(to, &value, sizeof value); }
/// For expressions that serve double and SimdDouble: the number at `from`, or simd_width numbers from there on.
template <class Number>
Number read(const double* from) {
  if constexpr (std::is_same_v<Number, SimdDouble>) {
    return load(from);
  } else {
    return *from;
  }
}

/// std::fma lane by lane, by intrinsics: the compiler turns a loop over the lanes into scalar operations.
inline SimdDouble multiply_add(SimdDouble a, SimdDouble b, SimdDouble c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#else
  for (int i = 0; i < simd_width; ++i) c[i] = std::fma(a[i], b[i], c[i]);
  return c;
#endif
}
/// The same for a double, for expressions that serve both types.
inline double multiply_add(double a, double b, double c) { return std::fma(a, b, c); }

namespace lane_order {

/// `pick(i)` selects lane i of the result: k is lane k of `a`, simd_width + k is lane k of `b`.
template <class Pick, int... i>
[[gnu::always_inline]] inline SimdDouble shuffle(SimdDouble a, SimdDouble b, Pick, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, Pick{}(i)...);
}
template <class Pick>
[[gnu::always_inline]] inline SimdDouble shuffle(SimdDouble a, SimdDouble b, Pick pick) {
  return shuffle(a, b, pick, std::make_integer_sequence<int, simd_width>{});
}

/// Exchanges the off-diagonal blocks of `size` x `size`, then recursively those of half the size.
template <int size>
[[gnu::always_inline]] inline void transpose_blocks(SimdDouble* rows) {
  if constexpr (size > 0) {
    for (int i = 0; i < simd_width; ++i) {
      if (i & size) continue;
      const SimdDouble upper = rows[i], lower = rows[i + size];
      rows[i] = shuffle(upper, lower, [](int k) { return k & size ? simd_width + k - size : k; });
      rows[i + size] = shuffle(upper, lower, [](int k) { return k & size ? simd_width + k : k + size; });
    }
    transpose_blocks<size / 2>(rows);
  }
}

}  // namespace lane_order

/// Every lane takes the value of the previous lane; the first keeps its own.
inline SimdDouble shift_lanes_up(SimdDouble x) {
  return lane_order::shuffle(x, x, [](int i) { return i > 0 ? i - 1 : 0; });
}
/// Every lane takes the value of the next lane; the last keeps its own.
inline SimdDouble shift_lanes_down(SimdDouble x) {
  return lane_order::shuffle(x, x, [](int i) { return i + 1 < simd_width ? i + 1 : i; });
}

/// For consecutive numbers in `before` and `now`: the simd_width of them that end `by` before the last.
template <int by>
inline SimdDouble concat_shift(SimdDouble before, SimdDouble now) {
  return lane_order::shuffle(before, now, [](int i) { return simd_width - by + i; });
}

/// Transposes a simd_width x simd_width matrix, given by its rows.
[[gnu::always_inline]] inline void transpose(SimdDouble* rows) { lane_order::transpose_blocks<simd_width / 2>(rows); }

}  // namespace bathline
