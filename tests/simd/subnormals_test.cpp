// Subnormal numbers are zero on every rank, as results and as operands.
#include "simd/subnormals.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <thread>

#include "test_world.hpp"

namespace bathline::subnormals_test {
namespace {

/// The smallest normal number.
volatile double smallest = 0x1p-1022;
/// A subnormal number, not made by arithmetic.
volatile double subnormal = std::bit_cast<double>(std::uint64_t{1} << 51);

bool is_zero(double x) { return std::bit_cast<std::uint64_t>(x) << 1 == 0; }

bool are_flushed() {
  const double product = smallest * 0.5, difference = 1.5 * smallest - smallest;
  const double multiply_add = std::fma(smallest, 0.25, smallest * 0.0), again = subnormal * 0x1p1000;
  return is_zero(product) && is_zero(difference) && is_zero(multiply_add) && is_zero(again) && !is_zero(smallest * 1.0);
}

TEST(MpiSubnormals, AreZeroOnEveryRank) { EXPECT_TRUE(are_flushed()); }

TEST(MpiSubnormals, AreZeroOnNewThreads) {
  bool flushed = false;
  std::thread([&] { flushed = are_flushed(); }).join();
  EXPECT_TRUE(flushed);
}

TEST(Subnormals, KeepTheirSign) {
  EXPECT_TRUE(std::signbit(-smallest * 0.5));
  EXPECT_FALSE(std::signbit(smallest * 0.5));
}

TEST(Subnormals, TheSmallestNormalNumberStays) {
  EXPECT_EQ(smallest * 1.0, 0x1p-1022);
  EXPECT_EQ(smallest * 2.0 * 0.5, 0x1p-1022);
}

}  // namespace
}  // namespace bathline::subnormals_test
