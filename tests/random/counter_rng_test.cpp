// Counter-based normal numbers: published test vectors, distribution, independence of different keys.
#include "random/counter_rng.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "test_world.hpp"

namespace bathline::counter_rng_test {
namespace {

constexpr std::size_t count = 100000;

std::vector<double> draw(const RngKey& key, std::size_t first = 0) {
  std::vector<double> all;
  for (std::size_t i = first; i < first + count / 2; ++i) {
    const auto [even, odd] = normal_pair(key, i);
    all.push_back(even);
    all.push_back(odd);
  }
  return all;
}

/// Uniform number from two words, in (0, 1].
long double uniform(std::uint64_t high, std::uint64_t low) {
  const std::uint64_t steps = (((high << 32) + low) >> 11) + 1;
  return std::ldexp(static_cast<long double>(steps), -53);
}

// Random123 1.14, tests/kat_vectors, "philox4x32 10": counter, key, result.
TEST(CounterRng, HasThePublishedBits) {
  struct Vector {
    std::array<std::uint64_t, 4> counter;
    std::array<std::uint64_t, 2> key;
    std::array<std::uint64_t, 4> words;
  };
  for (const Vector& published : {Vector{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                                  Vector{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                                         {0xffffffff, 0xffffffff},
                                         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                                  Vector{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                                         {0xa4093822, 0x299f31d0},
                                         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}) {
    const RngKey key{.seed = published.key[0] + (published.key[1] << 32),
                     .realisation = static_cast<std::uint32_t>(published.counter[2]),
                     .stream = static_cast<std::uint32_t>(published.counter[3])};
    const auto [even, odd] = normal_pair(key, published.counter[0] + (published.counter[1] << 32));
    // The Box-Muller transform in extended precision.
    const long double radius = std::sqrt(-2.0L * std::log(uniform(published.words[0], published.words[1])));
    const long double angle = 2.0L * std::numbers::pi_v<long double> * uniform(published.words[2], published.words[3]);
    EXPECT_NEAR(even, static_cast<double>(radius * std::cos(angle)), 4e-15);
    EXPECT_NEAR(odd, static_cast<double>(radius * std::sin(angle)), 4e-15);
  }
}

// Standard errors of the moments of n normal numbers: 1/sqrt(n), sqrt(2/n), sqrt(15/n), sqrt(96/n). Five of them.
TEST(CounterRng, IsStandardNormal) {
  for (const std::uint64_t seed : {0ull, 1ull, 1ull << 40}) {
    double moment[5] = {};
    std::size_t beyond = 0;
    for (double x : draw({.seed = seed})) {
      for (int power = 1; power <= 4; ++power) moment[power] += std::pow(x, power) / count;
      beyond += std::abs(x) > 1.959963985;
    }
    const double n = count;
    EXPECT_NEAR(moment[1], 0.0, 5.0 * std::sqrt(1.0 / n));
    EXPECT_NEAR(moment[2], 1.0, 5.0 * std::sqrt(2.0 / n));
    EXPECT_NEAR(moment[3], 0.0, 5.0 * std::sqrt(15.0 / n));
    EXPECT_NEAR(moment[4], 3.0, 5.0 * std::sqrt(96.0 / n));
    EXPECT_NEAR(static_cast<double>(beyond) / n, 0.05, 5.0 * std::sqrt(0.05 * 0.95 / n));
  }
}

// The product of two independent normal numbers has the variance 1.
void expect_independent(const std::vector<double>& one, const std::vector<double>& other) {
  double product = 0.0;
  std::size_t same = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    product += one[i] * other[i] / static_cast<double>(one.size());
    same += one[i] == other[i];
  }
  EXPECT_NEAR(product, 0.0, 5.0 / std::sqrt(static_cast<double>(one.size())));
  EXPECT_EQ(same, 0u);
}

TEST(CounterRng, NumbersOfDifferentKeysAreIndependent) {
  const std::vector<double> base = draw({.seed = 5, .realisation = 3, .stream = 2});
  const std::vector<RngKey> others = {{.seed = 6, .realisation = 3, .stream = 2},
                                      {.seed = 5 + (1ull << 32), .realisation = 3, .stream = 2},
                                      {.seed = 5, .realisation = 4, .stream = 2},
                                      {.seed = 5, .realisation = 2, .stream = 3},
                                      {.seed = 5, .realisation = 3, .stream = 1}};
  for (const RngKey& other : others) expect_independent(base, draw(other));
  expect_independent(base, draw({.seed = 5, .realisation = 3, .stream = 2}, 1ull << 33));
  // The two numbers of a pair, and neighbouring pairs.
  std::vector<double> even, odd, next;
  for (std::size_t i = 0; i + 2 < base.size(); i += 2) {
    even.push_back(base[i]);
    odd.push_back(base[i + 1]);
    next.push_back(base[i + 2]);
  }
  expect_independent(even, odd);
  expect_independent(even, next);
}

TEST(MpiCounterRng, IsTheSameOnEveryRank) {
  const std::vector<double> own = draw({.seed = 11, .realisation = 1, .stream = 9});
  std::vector<double> first = own;
  test_world().broadcast(std::span<double>(first));
  EXPECT_TRUE(own == first);
}

}  // namespace
}  // namespace bathline::counter_rng_test
