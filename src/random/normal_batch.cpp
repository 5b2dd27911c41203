// Batches of counter-based normal random numbers.
#include "random/normal_batch.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

// It warns that the ABI of long vectors as arguments has changed; all functions with such arguments are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace bathline {

namespace {

/// Pairs computed together: several registers of each variable, so that independent operations overlap.
constexpr int width = 32;

/// Have element-wise operators.
using Words = std::uint64_t __attribute__((vector_size(width * sizeof(std::uint64_t))));
using Numbers = double __attribute__((vector_size(width * sizeof(double))));

constexpr std::uint64_t lower = 0xffffffffU;

/// The products of the lower halves, by intrinsics: the compiler would need three times as many operations for the
/// product of whole words.
[[gnu::always_inline]] inline Words products(const Words& words, std::int64_t factor) {
#if defined(__AVX512F__)
  using Register = __m512i;
  const auto product = [&](Register value) { return _mm512_maskz_mul_epu32(0xff, value, _mm512_set1_epi64(factor)); };
#elif defined(__AVX2__)
  using Register = __m256i;
  const auto product = [&](Register value) { return _mm256_mul_epu32(value, _mm256_set1_epi64x(factor)); };
#elif defined(__SSE2__)
  using Register = __m128i;
  const auto product = [&](Register value) { return _mm_mul_epu32(value, _mm_set1_epi64x(factor)); };
#else
  using Register = std::uint64_t;
  const auto product = [&](Register value) { return (value & lower) * static_cast<Register>(factor); };
#endif
  Register registers[sizeof(Words) / sizeof(Register)];
  std::memcpy(registers, &words, sizeof words);
  for (Register& value : registers) value = product(value);
  Words result;
  std::memcpy(&result, registers, sizeof result);
  return result;
}

/// The four words of Philox4x32-10 for consecutive counters from `first` on, each in the lower half of an element.
[[gnu::always_inline]] inline std::array<Words, 4> philox(const RngKey& key, std::uint64_t first) {
  Words index;
  for (int i = 0; i < width; ++i) index[i] = first + static_cast<std::uint64_t>(i);
  Words a = index, b = index >> 32, c = Words{} + key.realisation, d = Words{} + key.stream;
  std::uint64_t low = key.seed & lower, high = key.seed >> 32;
#pragma GCC unroll 10  // else the words go through memory between rounds, which takes four times as long
  for (int round = 0; round < 10; ++round) {
    const Words even = products(a, PHILOX_M4x32_0), odd = products(c, PHILOX_M4x32_1);
    a = (odd >> 32) ^ b ^ low;
    b = odd;
    c = (even >> 32) ^ d ^ high;
    d = even;
    low += PHILOX_W32_0;
    high += PHILOX_W32_1;
  }
  return {a & lower, b & lower, c & lower, d & lower};
}

/// Converts integers below 2^52 by setting the exponent of 2^52 and subtracting it: processors convert 64-bit integers
/// one by one.
[[gnu::always_inline]] inline Numbers to_double(const Words& integer) {
  return reinterpret_cast<Numbers>(integer | 0x4330000000000000ULL) - 0x1p52;
}

/// Uniform in (0, 1], as in uniform_pair.
[[gnu::always_inline]] inline Numbers uniform(const Words& high, const Words& low) {
  return (to_double(high) * 0x1p21 + to_double(low >> 11) + 1.0) * 0x1p-53;
}

/// The value of a polynomial with these coefficients, the highest first.
template <std::size_t N>
[[gnu::always_inline]] inline Numbers polynomial(const double (&coefficients)[N], const Numbers& x) {
  Numbers value = Numbers{} + coefficients[0];
  for (std::size_t i = 1; i < N; ++i) value = value * x + coefficients[i];
  return value;
}

/// u = 2^e m with m within a factor sqrt(2) of 1, and log m = 2 artanh((m - 1)/(m + 1)).
[[gnu::always_inline]] inline Numbers logarithm(const Numbers& u) {
  const auto bits = reinterpret_cast<Words>(u);
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcdULL, bias = 1023;
  const Words exponent = (bits - root_half + (bias << 52)) >> 52;
  const auto m = reinterpret_cast<Numbers>(bits - ((exponent - bias) << 52));
  const Numbers s = (m - 1.0) / (m + 1.0), square = s * s;
  const Numbers rest = polynomial(
      {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3},
      square);
  return (to_double(exponent) - 1023.0) * std::numbers::ln2 + (2.0 * s + 2.0 * s * square * rest);
}

/// radius cos(2 pi u) and radius sin(2 pi u): Taylor series within an eighth of a turn, rotated by quarter turns.
[[gnu::always_inline]] inline void polar_to_cartesian(const Numbers& u, const Numbers& radius, Numbers& first,
                                                      Numbers& second) {
  constexpr double shift = 0x1.8p52;  // adding it rounds to an integer, held in the last bits
  const Numbers quarters = 4.0 * u, shifted = quarters + shift;
  const auto quarter = reinterpret_cast<Words>(shifted);
  const Numbers x = (quarters - (shifted - shift)) * (0.5 * std::numbers::pi), square = x * x;
  const Numbers sine = x + x * square *
                               polynomial({1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0,
                                           -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0},
                                          square);
  const Numbers cosine = 1.0 - 0.5 * square +
                         square * square *
                             polynomial({1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0,
                                         -1.0 / 3628800.0, 1.0 / 40320.0, -1.0 / 720.0, 1.0 / 24.0},
                                        square);
  const Words odd = std::uint64_t{0} - (quarter & 1);
  const auto s = reinterpret_cast<Words>(sine), c = reinterpret_cast<Words>(cosine);
  first = radius * reinterpret_cast<Numbers>(((c & ~odd) | (s & odd)) ^ (((quarter + 1) & 2) << 62));
  second = radius * reinterpret_cast<Numbers>(((s & ~odd) | (c & odd)) ^ ((quarter & 2) << 62));
}

/// The numbers of `width` pairs from `pair` on, one pair after the other.
void draw(const RngKey& key, std::uint64_t pair, double* numbers) {
  const std::array<Words, 4> words = philox(key, pair);
  Numbers radius = -2.0 * logarithm(uniform(words[0], words[1]));
  std::array<double, width> roots;
  std::memcpy(roots.data(), &radius, sizeof radius);
  for (double& root : roots) root = std::sqrt(root);
  std::memcpy(&radius, roots.data(), sizeof radius);
  Numbers first, second;
  polar_to_cartesian(uniform(words[2], words[3]), radius, first, second);
  for (int i = 0; i < width; ++i) {
    numbers[2 * i] = first[i];
    numbers[2 * i + 1] = second[i];
  }
}

}  // namespace

void fill_normals(const RngKey& key, std::uint64_t first, std::span<double> numbers) {
  const std::uint64_t end = first + numbers.size();
  for (std::uint64_t begin = first / 2 * 2; begin < end; begin += 2 * width) {
    if (begin >= first && begin + 2 * width <= end) {
      draw(key, begin / 2, numbers.data() + (begin - first));
      continue;
    }
    std::array<double, 2 * width> all;
    draw(key, begin / 2, all.data());
    const std::uint64_t from = std::max(first, begin), until = std::min(end, begin + 2 * width);
    std::copy_n(all.data() + (from - begin), until - from, numbers.data() + (from - first));
  }
}

}  // namespace bathline
