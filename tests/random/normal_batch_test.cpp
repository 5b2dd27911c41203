// Batches of normal numbers: those of normal_pair, however they are split.
#include "random/normal_batch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bathline::normal_batch_test {
namespace {

const RngKey key{.seed = 0x123456789abcdefULL, .realisation = 21, .stream = 0x80000001U};

TEST(NormalBatch, HasTheNumbersOfThePairs) {
  // An index beyond 32 bits as well; the worst of 2e5 differs by some units in the last place of 6.
  for (const std::uint64_t first : {std::uint64_t{0}, (std::uint64_t{7} << 33) - 100}) {
    std::vector<double> numbers(200000);
    fill_normals(key, first, numbers);
    double worst = 0.0;
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
      const auto [even, odd] = normal_pair(key, first / 2 + i / 2);
      worst = std::max({worst, std::abs(numbers[i] - even), std::abs(numbers[i + 1] - odd)});
    }
    EXPECT_LT(worst, 1e-14);
  }
}

TEST(NormalBatch, IsTheSameHoweverItIsSplit) {
  std::vector<double> whole(1000);
  fill_normals(key, 3, whole);
  for (std::size_t begin = 0; begin < whole.size();) {
    std::vector<double> part(std::min<std::size_t>(1 + begin % 131, whole.size() - begin));
    fill_normals(key, 3 + begin, part);
    for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], whole[begin + i]);
    begin += part.size();
  }
  fill_normals(key, 5, {});
}

TEST(NormalBatch, HasTheMomentsOfTheNormalDistribution) {
  constexpr std::size_t count = 1000000;
  std::vector<double> numbers(count);
  fill_normals(key, 0, numbers);
  double moments[4] = {}, neighbours = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    double power = 1.0;
    for (double& moment : moments) moment += (power *= numbers[i]) / count;
    if (i > 0) neighbours += numbers[i] * numbers[i - 1] / count;
  }
  // Standard errors of the means of x^k: the square root of <x^2k> - <x^k>^2, over 1000. Five of them.
  EXPECT_NEAR(moments[0], 0.0, 5e-3);
  EXPECT_NEAR(moments[1], 1.0, 5e-3 * std::sqrt(2.0));
  EXPECT_NEAR(moments[2], 0.0, 5e-3 * std::sqrt(15.0));
  EXPECT_NEAR(moments[3], 3.0, 5e-3 * std::sqrt(96.0));
  EXPECT_NEAR(neighbours, 0.0, 5e-3);
}

}  // namespace
}  // namespace bathline::normal_batch_test
