// Many normal numbers at once, by counter.
#include "parallel/normal_numbers.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace bathline {

namespace {

/// Pairs that go through every loop together.
constexpr int width = 64;

using Words = std::array<std::uint32_t, width>;
using Numbers = std::array<double, width>;

/// The four words of Philox4x32-10 for a row of counters from `first` on.
struct PhiloxRow {
  std::array<Words, 4> words;

  PhiloxRow(const RandomKey& key, std::uint64_t first) {
    for (int i = 0; i < width; ++i) {
      const std::uint64_t index = first + static_cast<std::uint64_t>(i);
      words[0][i] = static_cast<std::uint32_t>(index);
      words[1][i] = static_cast<std::uint32_t>(index >> 32);
      words[2][i] = key.realisation;
      words[3][i] = key.stream;
    }
    auto low = static_cast<std::uint32_t>(key.seed), high = static_cast<std::uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      for (int i = 0; i < width; ++i) {
        const std::uint64_t even = std::uint64_t{PHILOX_M4x32_0} * words[0][i];
        const std::uint64_t odd = std::uint64_t{PHILOX_M4x32_1} * words[2][i];
        const std::uint32_t first_word = static_cast<std::uint32_t>(odd >> 32) ^ words[1][i] ^ low;
        const std::uint32_t third_word = static_cast<std::uint32_t>(even >> 32) ^ words[3][i] ^ high;
        words[0][i] = first_word;
        words[1][i] = static_cast<std::uint32_t>(odd);
        words[2][i] = third_word;
        words[3][i] = static_cast<std::uint32_t>(even);
      }
      low += PHILOX_W32_0;
      high += PHILOX_W32_1;
    }
  }
};

/// An integer below 2^52 as a number, by an exponent that leaves its bits in place: processors convert 64-bit integers
/// one by one.
double number_of(std::uint64_t integer) { return std::bit_cast<double>(integer | 0x4330000000000000ULL) - 0x1p52; }

/// In (0, 1], as in uniform_pair.
double uniform(std::uint32_t high, std::uint32_t low) {
  return (number_of(high) * 0x1p21 + number_of(low >> 11) + 1.0) * 0x1p-53;
}

/// The value of a polynomial with these coefficients, the highest first.
template <std::size_t N>
double polynomial(const double (&coefficients)[N], double x) {
  double value = coefficients[0];
  for (std::size_t i = 1; i < N; ++i) value = value * x + coefficients[i];
  return value;
}

/// u = 2^e m with m within a factor sqrt(2) of 1, and log m = 2 artanh((m - 1)/(m + 1)).
double logarithm(double u) {
  const auto bits = std::bit_cast<std::uint64_t>(u);
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcdULL, one = 1023;
  const std::uint64_t exponent = (bits - root_half + (one << 52)) >> 52;
  const double m = std::bit_cast<double>(bits - ((exponent - one) << 52));
  const double s = (m - 1.0) / (m + 1.0), square = s * s;
  const double rest = polynomial(
      {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3},
      square);
  return (number_of(exponent) - 1023.0) * std::numbers::ln2 + (2.0 * s + 2.0 * s * square * rest);
}

/// Cosine and sine of 2 pi u times `radius`: series within an eighth of a turn, then turned by quarters.
void turn(double u, double radius, double& first, double& second) {
  constexpr double shift = 0x1.8p52;  // adding it rounds to an integer, which stands in the last bits then
  const double quarters = 4.0 * u, shifted = quarters + shift;
  const std::uint64_t quarter = std::bit_cast<std::uint64_t>(shifted);
  const double x = (quarters - (shifted - shift)) * (0.5 * std::numbers::pi), square = x * x;
  const double sine = x + x * square *
                              polynomial({1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0,
                                          -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0},
                                         square);
  const double cosine = 1.0 - 0.5 * square +
                        square * square *
                            polynomial({1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0,
                                        -1.0 / 3628800.0, 1.0 / 40320.0, -1.0 / 720.0, 1.0 / 24.0},
                                       square);
  const std::uint64_t odd = std::uint64_t{0} - (quarter & 1);
  const auto s = std::bit_cast<std::uint64_t>(sine), c = std::bit_cast<std::uint64_t>(cosine);
  first = radius * std::bit_cast<double>(((c & ~odd) | (s & odd)) ^ (((quarter + 1) & 2) << 62));
  second = radius * std::bit_cast<double>(((s & ~odd) | (c & odd)) ^ ((quarter & 2) << 62));
}

}  // namespace

void fill_normals(const RandomKey& key, std::uint64_t first, std::span<double> numbers) {
  const std::uint64_t end = first + numbers.size();
  Numbers one, other;
  for (std::uint64_t pair = first / 2; 2 * pair < end; pair += width) {
    const auto& [a, b, c, d] = PhiloxRow(key, pair).words;
    for (int i = 0; i < width; ++i) {
      turn(uniform(c[i], d[i]), std::sqrt(-2.0 * logarithm(uniform(a[i], b[i]))), one[i], other[i]);
    }
    const std::uint64_t from = std::max(first, 2 * pair), until = std::min(end, 2 * pair + 2 * width);
    for (std::uint64_t number = from; number < until; ++number) {
      const std::uint64_t at = number / 2 - pair;
      numbers[number - first] = number % 2 == 0 ? one[at] : other[at];
    }
  }
}

}  // namespace bathline
