// Sums over sites: the bits of the documented order on any number of ranks.
#include "parallel/reproducible_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "random_numbers.hpp"
#include "serial_sum.hpp"
#include "test_world.hpp"

namespace bathline::reproducible_sum_test {
namespace {

/// One number per site, from a list of all.
auto listed(const std::vector<double>& values) {
  return [&]<class Number>(std::int64_t site) { return read<Number>(values.data() + site); };
}

TEST(MpiReproducibleSum, HasTheBitsOfItsOrder) {
  const Communicator& world = test_world();
  for (const std::int64_t total : {1, 7, 8, 9, 100, 4095, 4096, 4097, 8192, 12289, 20480, 50021}) {
    for (const std::int64_t minimum : {1, 40}) {
      SCOPED_TRACE(testing::Message() << total << " sites");
      RandomNumbers random(static_cast<std::uint64_t>(total));
      std::vector<double> values = random.list(static_cast<std::size_t>(total));
      for (std::size_t i = 0; i < values.size(); i += 17) values[i] *= 1e9;
      const Layout layout(total, world.size(), minimum);
      ReproducibleSum sum(layout, world);
      for (int round = 0; round < 2; ++round) {
        const double actual = sum(listed(values));
        EXPECT_EQ(actual, serial_sum(values));
        std::reverse(values.begin(), values.end());
      }
    }
  }
}

// Between two large numbers that cancel, the compensation itself is a plain sum, in which the order of the blocks
// shows.
TEST(MpiReproducibleSum, KeepsTheBlocksInOrder) {
  const Communicator& world = test_world();
  for (const std::int64_t total : {50021, 100003, 200017, 300007}) {
    RandomNumbers random(static_cast<std::uint64_t>(total));
    std::vector<double> values = random.list(static_cast<std::size_t>(total));
    values.front() = 1e30;
    values.back() = -1e30;
    const Layout layout(total, world.size(), 40);
    ReproducibleSum sum(layout, world);
    EXPECT_EQ(sum(listed(values)), serial_sum(values)) << total;
  }
}

// The order alone would not matter much if the sum were inaccurate.
TEST(MpiReproducibleSum, IsAccurateOverManyBlocks) {
  const Communicator& world = test_world();
  constexpr std::int64_t total = 3'000'000;
  const Layout layout(total, world.size(), 40);
  ReproducibleSum sum(layout, world);
  std::vector<double> values(total, 0.1);
  EXPECT_NEAR(sum(listed(values)), 3e5, 3e5 * 2e-14);
  std::fill(values.begin() + total / 2, values.end(), -0.1);
  EXPECT_NEAR(sum(listed(values)), 0.0, 1e-8);
}

TEST(MpiReproducibleSum, PropagatesNaN) {
  const Communicator& world = test_world();
  const Layout layout(9000, world.size(), 40);
  ReproducibleSum sum(layout, world);
  std::vector<double> values(9000, 1.0);
  values[4321] = std::nan("");
  EXPECT_TRUE(std::isnan(sum(listed(values))));
}

}  // namespace
}  // namespace bathline::reproducible_sum_test
