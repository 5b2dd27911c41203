// Division by a loop-invariant divisor, against the operator.
#include "simd/invariant_divisor.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

#include "random_numbers.hpp"

namespace bathline::invariant_divisor_test {
namespace {

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

/// Dividends whose quotients are hard to round: next to a number and next to the midpoint of two numbers.
std::vector<double> hard_numbers(double divisor, RandomNumbers& random) {
  std::vector<double> all;
  for (int i = 0; i < 400; ++i) {
    const double quotient = std::ldexp(random.uniform(1.0, 2.0), static_cast<int>(random.uniform(-200.0, 200.0)));
    const double middle = quotient * divisor, beside = std::fma(quotient, divisor, 0.5 * divisor * quotient * 0x1p-52);
    for (const double x : {middle, beside}) {
      for (const double dividend : {x, std::nextafter(x, 0.0), std::nextafter(x, 1e300), -x}) all.push_back(dividend);
    }
  }
  return all;
}

TEST(InvariantDivisor, HasTheBitsOfADivision) {
  RandomNumbers random(31);
  std::vector<double> divisors = {1.0,  0.5,   -4.0,          3.0,           1.0 + 0x1p-52, 2.0 - 0x1p-52, 1.001, -7.0,
                                  1e29, 1e-29, 2.0 - 0x1p-51, 1.5 + 0x1p-52, 0x1p-1000,     1e200,         1e-200};
  for (int i = 0; i < 200; ++i) divisors.push_back(random.uniform(1.0, 2.0));
  for (const double number : divisors) {
    SCOPED_TRACE(number);
    const InvariantDivisor divisor(number);
    std::vector<double> hard = hard_numbers(number, random);
    hard.resize(hard.size() / simd_width * simd_width);
    for (std::size_t i = 0; i < hard.size(); i += simd_width) {
      double actual[simd_width];
      store(divisor.divide(load(&hard[i])), actual);
      for (std::size_t k = 0; k < simd_width; ++k) {
        ASSERT_EQ(bits(actual[k]), bits(hard[i + k] / number)) << hard[i + k];
        ASSERT_EQ(bits(divisor.divide(hard[i + k])), bits(hard[i + k] / number)) << hard[i + k];
      }
    }
  }
}

TEST(InvariantDivisor, IsExactAtTheEndsOfTheRange) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double number : {3.0, 0.25, 1e-29}) {
    const InvariantDivisor divisor(number);
    for (const double x : {0.0, -0.0, infinity, -infinity, 1e300, 1e-300, -2.3e-308, 1.7e308}) {
      for (int lane = 0; lane < simd_width; ++lane) {
        SimdDouble all = splat(1.7);
        all[lane] = x;
        EXPECT_EQ(bits(divisor.divide(all)[lane]), bits(x / number)) << x << " / " << number;
      }
    }
    EXPECT_TRUE(std::isnan(divisor.divide(splat(std::nan("")))[0]));
  }
}

}  // namespace
}  // namespace bathline::invariant_divisor_test
