// Elementary functions of registers, against those of the C library in extended precision.
#include "simd/elementary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "random_numbers.hpp"

namespace bathline::elementary_test {
namespace {

/// Distance in units in the last place of the exact value.
double ulps(double value, long double exact) {
  const auto rounded = static_cast<double>(exact);
  const double unit = std::nextafter(std::abs(rounded), std::numeric_limits<double>::infinity()) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact)) / unit;
}

TEST(Elementary, ExponentialMinusOneIsAccurateEverywhere) {
  RandomNumbers random(17);
  double worst = 0.0;
  for (int i = 0; i < 200'000; ++i) {
    const double size = std::ldexp(random.uniform(0.5, 1.0), static_cast<int>(random.uniform(-60.0, 10.5)));
    const double x = i % 2 == 0 ? std::min(size, 700.0) : -std::min(size, 700.0);
    worst = std::max(worst, ulps(exponential_minus_one(x), std::expm1(static_cast<long double>(x))));
  }
  EXPECT_LT(worst, 3.0);
}

TEST(Elementary, EndsOfTheRangeAreThoseOfTheExponential) {
  EXPECT_EQ(exponential_minus_one(0.0), 0.0);
  EXPECT_EQ(exponential_minus_one(-1e300), -1.0);
  EXPECT_EQ(exponential_minus_one(-std::numeric_limits<double>::infinity()), -1.0);
  EXPECT_GT(exponential_minus_one(1e300), 1e307);
  EXPECT_TRUE(std::isnan(exponential_minus_one(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Elementary, RegistersHaveTheBitsOfNumbers) {
  RandomNumbers random(18);
  for (int i = 0; i < 2'000; ++i) {
    SimdDouble x{};
    for (int lane = 0; lane < simd_width; ++lane) x[lane] = random.uniform(-40.0, 40.0);
    const SimdDouble exponential = exponential_minus_one(x), most = larger(x, splat(1.0)),
                     least = smaller(x, splat(1.0));
    const SimdDouble root = square_root(most);
    for (int lane = 0; lane < simd_width; ++lane) {
      EXPECT_EQ(exponential[lane], exponential_minus_one(double{x[lane]}));
      EXPECT_EQ(most[lane], larger(double{x[lane]}, 1.0));
      EXPECT_EQ(least[lane], smaller(double{x[lane]}, 1.0));
      EXPECT_EQ(root[lane], std::sqrt(double{most[lane]}));
    }
  }
}

}  // namespace
}  // namespace bathline::elementary_test
