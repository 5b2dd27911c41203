// As many numbers as a register of the processor holds, for loops that must keep their state in registers. How many
// there are changes no result of explicit schemes, and of implicit ones no more than round-off.
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

/// Has the operators of a number, lane by lane.
using SimdDouble = double __attribute__((vector_size(simd_width * sizeof(double))));

/// Nothing is computed for that, as an added zero would be.
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
/// For expressions that serve single numbers and registers: the one at `from`, or as many as there are lanes.
template <class Number>
Number read(const double* from) {
  if constexpr (std::is_same_v<Number, SimdDouble>) {
    return load(from);
  } else {
    return *from;
  }
}

/// std::fma lane by lane. Written out for the compiler, which takes a loop over the lanes apart.
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
/// The same for one number, for expressions that serve both.
inline double multiply_add(double a, double b, double c) { return std::fma(a, b, c); }

namespace lane_order {

/// `pick(i)` says what lane i of the result is: lane k of `a` for k < lanes, of `b` for lanes + k.
template <class Pick, int... i>
[[gnu::always_inline]] inline SimdDouble shuffle(SimdDouble a, SimdDouble b, Pick, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, Pick{}(i)...);
}
template <class Pick>
[[gnu::always_inline]] inline SimdDouble shuffle(SimdDouble a, SimdDouble b, Pick pick) {
  return shuffle(a, b, pick, std::make_integer_sequence<int, simd_width>{});
}

/// Exchanges what lies beside the diagonal in blocks of `size` x `size`, then in ever smaller ones.
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

/// Every lane takes the value of the lane before it; the first keeps its own.
inline SimdDouble shift_lanes_up(SimdDouble x) {
  return lane_order::shuffle(x, x, [](int i) { return i > 0 ? i - 1 : 0; });
}
/// Every lane takes the value of the lane behind it; the last keeps its own.
inline SimdDouble shift_lanes_down(SimdDouble x) {
  return lane_order::shuffle(x, x, [](int i) { return i + 1 < simd_width ? i + 1 : i; });
}

/// Where two registers hold consecutive numbers: as many of them, ending `by` before the last.
template <int by>
inline SimdDouble concat_shift(SimdDouble before, SimdDouble now) {
  return lane_order::shuffle(before, now, [](int i) { return simd_width - by + i; });
}

/// Turns `simd_width` rows of a square into its columns.
[[gnu::always_inline]] inline void transpose(SimdDouble* rows) { lane_order::transpose_blocks<simd_width / 2>(rows); }

}  // namespace bathline
