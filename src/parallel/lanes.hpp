// As many numbers as a register of the processor holds, for loops that must keep their state in registers. How many
// there are changes no result of explicit schemes, and of implicit ones no more than round-off.
// Tested by tests/parallel/ordered_sum_test.cpp.
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
inline constexpr int lanes = 8;
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr int lanes = 4;
#else
inline constexpr int lanes = 2;
#endif

/// Has the operators of a number, lane by lane.
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));

/// Nothing is computed for that, as an added zero would be.
template <class Number = Lanes>
Number everywhere(double x) {
  return x - Number{};
}

inline Lanes load(const double* from) {
  Lanes value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline void store(Lanes value, double* to) { std::memcpy(to, &value, sizeof value); }
/// For expressions that serve single numbers and registers: the one at `from`, or as many as there are lanes.
template <class Number>
Number read(const double* from) {
  if constexpr (std::is_same_v<Number, Lanes>) {
    return load(from);
  } else {
    return *from;
  }
}

/// std::fma lane by lane. Written out for the compiler, which takes a loop over the lanes apart.
inline Lanes fused(Lanes a, Lanes b, Lanes c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#else
  for (int i = 0; i < lanes; ++i) c[i] = std::fma(a[i], b[i], c[i]);
  return c;
#endif
}
/// The same for one number, for expressions that serve both.
inline double fused(double a, double b, double c) { return std::fma(a, b, c); }

namespace lane_order {

/// `pick(i)` says what lane i of the result is: lane k of `a` for k < lanes, of `b` for lanes + k.
template <class Pick, int... i>
[[gnu::always_inline]] inline Lanes mixed(Lanes a, Lanes b, Pick, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, Pick{}(i)...);
}
template <class Pick>
[[gnu::always_inline]] inline Lanes mixed(Lanes a, Lanes b, Pick pick) {
  return mixed(a, b, pick, std::make_integer_sequence<int, lanes>{});
}

/// Exchanges what lies beside the diagonal in blocks of `size` x `size`, then in ever smaller ones.
template <int size>
[[gnu::always_inline]] inline void transpose_blocks(Lanes* rows) {
  if constexpr (size > 0) {
    for (int i = 0; i < lanes; ++i) {
      if (i & size) continue;
      const Lanes upper = rows[i], lower = rows[i + size];
      rows[i] = mixed(upper, lower, [](int k) { return k & size ? lanes + k - size : k; });
      rows[i + size] = mixed(upper, lower, [](int k) { return k & size ? lanes + k : k + size; });
    }
    transpose_blocks<size / 2>(rows);
  }
}

}  // namespace lane_order

/// Every lane takes the value of the lane before it; the first keeps its own.
inline Lanes from_lane_before(Lanes x) {
  return lane_order::mixed(x, x, [](int i) { return i > 0 ? i - 1 : 0; });
}
/// Every lane takes the value of the lane behind it; the last keeps its own.
inline Lanes from_lane_behind(Lanes x) {
  return lane_order::mixed(x, x, [](int i) { return i + 1 < lanes ? i + 1 : i; });
}

/// Where two registers hold consecutive numbers: as many of them, ending `by` before the last.
template <int by>
inline Lanes moved_on(Lanes before, Lanes now) {
  return lane_order::mixed(before, now, [](int i) { return lanes - by + i; });
}

/// Turns `lanes` rows of a square into its columns.
[[gnu::always_inline]] inline void transpose(Lanes* rows) { lane_order::transpose_blocks<lanes / 2>(rows); }

}  // namespace bathline
