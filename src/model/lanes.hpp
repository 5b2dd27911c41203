// As many numbers as a register of the processor holds, for loops that must keep their state in registers. How many
// there are changes no result.
#pragma once

#include <cmath>
#include <cstring>

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

/// Has the operators of a number, lane by lane; a number added to Lanes{} is in every lane.
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));

inline Lanes load(const double* from) {
  Lanes value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline void store(Lanes value, double* to) { std::memcpy(to, &value, sizeof value); }

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

}  // namespace bathline
