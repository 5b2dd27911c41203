// Sums over leaves: the bits of the documented order on any number of ranks.
#include "parallel/reproducible_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "random_numbers.hpp"
#include "serial_sum.hpp"
#include "self_world.hpp"
#include "test_world.hpp"

namespace bathline::reproducible_sum_test {
namespace {

ReproducibleSum sum_of(std::int64_t total, const Communicator& world) {
  return {Layout(total, world.size(), ReproducibleSum::leaf_size(total, 256, total + 256)), world};
}

/// The value of element `k` of sum `i`; every 17th is large, so that the order matters.
double value_of(std::int64_t k, int i) {
  const double value = std::sin(0.7 * static_cast<double>(k) + i);
  return k % 17 == 0 ? value * 1e9 : value;
}

/// All sums, by the class.
std::vector<double> sum_up(std::int64_t total, int width, const Communicator& world) {
  ReproducibleSum sum = sum_of(total, world);
  std::vector<double> totals(static_cast<std::size_t>(width), -1.0);
  // Twice: nothing of the first round may remain.
  for (int round = 0; round < 2; ++round) {
    sum.allocate(width);
    for (std::int64_t leaf = 0; leaf < sum.leaves(); ++leaf) {
      const std::int64_t end = std::min(sum.count(), (leaf + 1) * sum.leaf_size());
      for (std::int64_t j = leaf * sum.leaf_size(); j < end; ++j) {
        for (int i = 0; i < width; ++i) sum.leaf(leaf)[static_cast<std::size_t>(i)] += value_of(sum.first() + j, i);
      }
    }
    sum.reduce(totals);
  }
  return totals;
}

/// Leaf after leaf in plain loops.
double sum_plainly(std::int64_t total, int i, std::int64_t leaf_size) {
  double sum = 0.0, compensation = 0.0;
  for (std::int64_t begin = 0; begin < total; begin += leaf_size) {
    double leaf = 0.0;
    for (std::int64_t k = begin; k < std::min(total, begin + leaf_size); ++k) leaf += value_of(k, i);
    const double next = sum + leaf;
    compensation += std::abs(sum) >= std::abs(leaf) ? (sum - next) + leaf : (leaf - next) + sum;
    sum = next;
  }
  return sum + compensation;
}

TEST(MpiReproducibleSum, HasTheBitsOfItsOrder) {
  const Communicator& world = test_world();
  // From less than one leaf, so more ranks than leaves, to more than 1024 of the smallest.
  for (const std::int64_t total : {1, 2, 255, 256, 257, 512, 513, 1000, 262144, 262145, 300003}) {
    for (const int width : {1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << total << " elements, " << width << " sums");
      const std::vector<double> totals = sum_up(total, width, world);
      for (int i = 0; i < width; ++i) {
        const double plain = sum_plainly(total, i, sum_of(total, self_world()).leaf_size());
        EXPECT_EQ(totals[static_cast<std::size_t>(i)], world.is_root() ? plain : -1.0);
      }
    }
  }
}

TEST(MpiReproducibleSum, PiecesAreWholeLeavesInTheOrderOfTheRanks) {
  const Communicator& world = test_world();
  for (const std::int64_t total : {1, 256, 257, 800, 4000, 280000, 3000000}) {
    SCOPED_TRACE(total);
    const ReproducibleSum sum = sum_of(total, world), alone = sum_of(total, self_world());
    EXPECT_EQ(alone.first(), 0);
    EXPECT_EQ(alone.count(), total);
    EXPECT_LE(alone.leaves(), 1024);
    EXPECT_EQ(sum.leaf_size(), alone.leaf_size());
    EXPECT_EQ(world.sum(sum.leaves()), alone.leaves());
    EXPECT_EQ(world.sum(sum.count()), total);
    const double own[] = {static_cast<double>(sum.first()), static_cast<double>(sum.count())};
    const std::vector<double> all = world.gather_all(own);
    double first = 0.0;
    for (std::size_t rank = 0; rank < all.size() / 2; ++rank) {
      EXPECT_EQ(all[2 * rank], first);
      first += all[2 * rank + 1];
    }
    if (sum.count() > 0) {
      EXPECT_EQ(sum.first() % sum.leaf_size(), 0);
      EXPECT_GT(sum.count(), (sum.leaves() - 1) * sum.leaf_size());
      EXPECT_LE(sum.count(), sum.leaves() * sum.leaf_size());
    }
  }
}

// Many leaves that cancel: a plain sum of the leaves would lose what is left.
TEST(MpiReproducibleSum, IsAccurateOverManyLeaves) {
  const Communicator& world = test_world();
  ReproducibleSum sum = sum_of(1024 * 256, world);
  sum.allocate(1);
  for (std::int64_t leaf = 0; leaf < sum.leaves(); ++leaf) {
    const std::int64_t global = (sum.first() + leaf * sum.leaf_size()) / sum.leaf_size();
    sum.leaf(leaf)[0] = global == 0 ? 1e20 : global == 1023 ? -1e20 : 1.0;
  }
  double total = 0.0;
  sum.reduce({&total, 1});
  if (world.is_root()) {
    EXPECT_EQ(total, 1022.0);
  }
}

/// One number per site, from a list of all.
auto listed(const std::vector<double>& values) {
  return [&]<class Number>(std::int64_t site) { return read<Number>(values.data() + site); };
}

/// In parts of 1000 sites.
double sum_sites(ReproducibleSum& sum, const std::vector<double>& values) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  sum.begin();
  for (std::int64_t stop = 1000; stop < sum.count(); stop += 1000) sum.add(listed(values), sum.first() + stop, all);
  return sum.end(listed(values), all);
}

TEST(MpiReproducibleSum, OfSitesHasTheBitsOfItsOrder) {
  const Communicator& world = test_world();
  for (const std::int64_t total : {1, 7, 8, 9, 100, 4095, 4096, 4097, 8192, 12289, 20480, 50021}) {
    for (const std::int64_t unit : {64, 4096}) {
      SCOPED_TRACE(testing::Message() << total << " sites");
      RandomNumbers random(static_cast<std::uint64_t>(total));
      std::vector<double> values = random.list(static_cast<std::size_t>(total));
      for (std::size_t i = 0; i < values.size(); i += 17) values[i] *= 1e9;
      const Layout layout(total, world.size(), unit);
      ReproducibleSum sum(layout, world);
      for (int round = 0; round < 2; ++round) {
        const double actual = sum_sites(sum, values);
        EXPECT_EQ(actual, serial_sum(values, layout.unit()));
        std::reverse(values.begin(), values.end());
      }
    }
  }
}

// Between two large numbers that cancel, the compensation itself is a plain sum, in which the order of the leaves
// shows.
TEST(MpiReproducibleSum, KeepsTheLeavesInOrder) {
  const Communicator& world = test_world();
  for (const std::int64_t total : {50021, 100003, 200017, 300007}) {
    RandomNumbers random(static_cast<std::uint64_t>(total));
    std::vector<double> values = random.list(static_cast<std::size_t>(total));
    values.front() = 1e30;
    values.back() = -1e30;
    const Layout layout(total, world.size(), 64);
    ReproducibleSum sum(layout, world);
    EXPECT_EQ(sum_sites(sum, values), serial_sum(values, layout.unit())) << total;
  }
}

// The order alone would not matter much if the sum were inaccurate.
TEST(MpiReproducibleSum, OfSitesIsAccurate) {
  const Communicator& world = test_world();
  constexpr std::int64_t total = 3'000'000;
  const Layout layout(total, world.size(), 64);
  ReproducibleSum sum(layout, world);
  std::vector<double> values(total, 0.1);
  EXPECT_NEAR(sum_sites(sum, values), 3e5, 3e5 * 2e-14);
  std::fill(values.begin() + total / 2, values.end(), -0.1);
  EXPECT_NEAR(sum_sites(sum, values), 0.0, 1e-8);
}

TEST(MpiReproducibleSum, PropagatesNaN) {
  const Communicator& world = test_world();
  const Layout layout(9000, world.size(), 64);
  ReproducibleSum sum(layout, world);
  std::vector<double> values(9000, 1.0);
  values[4321] = std::nan("");
  EXPECT_TRUE(std::isnan(sum_sites(sum, values)));
}

}  // namespace
}  // namespace bathline::reproducible_sum_test
