// A line's numbers, its state on several ranks and its energy.
#include "model/line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dense_system.hpp"
#include "serial_sum.hpp"
#include "test_world.hpp"

namespace bathline {
namespace {

Line make_line(std::int64_t sites, int axes, FarEnd far_end) {
  return Line("line", Attachment({{0, 1.0}}, axes), {.mass = 5.0, .stiffness = 2000.0, .far_end = far_end}, sites,
              test_world());
}

TEST(MpiLine, DampsBySqrtOfLambdaM) {
  const Line line = make_line(100, 1, FarEnd::fixed);
  EXPECT_NEAR(line.damping(), 100.0, 1e-13);
  EXPECT_NEAR(line.echo_time(), 2.0 * 100.0 * std::sqrt(5.0 / 2000.0), 1e-13);
  EXPECT_NEAR(line.highest_frequency(), 2.0 * std::sqrt(2000.0 / 5.0), 1e-12);
  EXPECT_FALSE(line.is_open_ended());
  const Line matched = make_line(100, 1, FarEnd::matched);
  EXPECT_TRUE(matched.is_open_ended());
  EXPECT_EQ(matched.echo_time(), std::numeric_limits<double>::infinity());
}

TEST(MpiLine, NeedsSixteenBytesASiteAndAxis) {
  for (const int axes : {1, 2}) {
    const Line line = make_line(1000000, axes, FarEnd::fixed);
    const std::int64_t all = test_world().sum(line.bytes());
    EXPECT_GE(all, 16 * axes * 1000000);
    EXPECT_LE(all, 16 * axes * (1000000 + 128 * test_world().size()));
  }
}

TEST(MpiLine, ChainIsTheLineWithItsEnd) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    const Line line = make_line(4, 1, far_end);
    const LinearChain chain = line.chain(10);
    EXPECT_EQ(chain.mass, std::vector<double>(4, 5.0));
    ASSERT_EQ(chain.springs.size(), 3u);
    EXPECT_EQ(chain.springs[2].first, 2);
    EXPECT_EQ(chain.springs[2].second, 3);
    EXPECT_EQ(chain.springs[2].stiffness, 2000.0);
    ASSERT_EQ(chain.to_head.size(), 1u);
    EXPECT_EQ(chain.to_head[0], std::make_pair(0, 2000.0));
    EXPECT_EQ(chain.to_ground.size(), far_end == FarEnd::fixed ? 1u : 0u);
    ASSERT_EQ(chain.dashpots.size(), far_end == FarEnd::matched ? 1u : 0u);
    if (far_end == FarEnd::matched) {
      EXPECT_EQ(chain.dashpots[0].first, 3);
      EXPECT_NEAR(chain.dashpots[0].second, 100.0, 1e-13);
    }
    // Cut short, it is held where it was cut.
    const LinearChain cut = line.chain(2);
    EXPECT_EQ(cut.mass.size(), 2u);
    ASSERT_EQ(cut.to_ground.size(), 1u);
    EXPECT_EQ(cut.to_ground[0], std::make_pair(1, 2000.0));
    EXPECT_TRUE(cut.dashpots.empty());
  }
}

TEST(MpiLine, KeepsItsState) {
  for (const std::int64_t sites : {1, 2, 39, 41, 200, 777}) {
    for (const int axes : {1, 3}) {
      Line line = make_line(sites, axes, FarEnd::fixed);
      line.prepare({});
      std::vector<double> w, p;
      line.gather_state(w, p);
      const auto count = static_cast<std::size_t>(sites * axes);
      if (test_world().is_root()) {
        EXPECT_EQ(w, std::vector<double>(count, 0.0));
        EXPECT_EQ(p, std::vector<double>(count, 0.0));
      } else {
        EXPECT_TRUE(w.empty());
        EXPECT_TRUE(p.empty());
      }
      std::vector<double> start(count), momenta(count);
      for (std::size_t i = 0; i < count; ++i) {
        start[i] = static_cast<double>(i);
        momenta[i] = -0.5 * static_cast<double>(i);
      }
      line.scatter_state(start, momenta);
      for (int axis = 0; axis < axes; ++axis) {
        const std::span<const double> mine = line.displacement(axis);
        for (std::size_t j = 0; j < mine.size(); ++j) {
          const auto site = static_cast<std::size_t>(line.first_site()) + j;
          EXPECT_EQ(mine[j], start[site * static_cast<std::size_t>(axes) + static_cast<std::size_t>(axis)]);
        }
      }
      EXPECT_EQ(test_world().sum(static_cast<std::int64_t>(line.displacement(0).size())), sites);
      line.gather_state(w, p);
      if (test_world().is_root()) {
        EXPECT_EQ(w, start);
        EXPECT_EQ(p, momenta);
      }
    }
  }
}

TEST(MpiLine, EnergyIsSummedInTheDocumentedOrder) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const std::int64_t sites : {1, 2, 41, 4095, 4096, 4097, 20011}) {
      constexpr int axes = 2;
      SCOPED_TRACE(testing::Message() << sites << " sites, far end " << static_cast<int>(far_end));
      Line line = make_line(sites, axes, far_end);
      line.prepare({});
      RandomNumbers random(3);
      const std::vector<double> w = random.list(static_cast<std::size_t>(sites * axes));
      const std::vector<double> p = random.list(static_cast<std::size_t>(sites * axes));
      line.scatter_state(w, p);
      const std::vector<double> head = {0.3, -0.4};
      const EnvironmentEnergy energy = line.energy(head);

      double environment = 0.0, interaction = 0.0;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        std::vector<double> terms;
        for (std::size_t j = 0; j < static_cast<std::size_t>(sites); ++j) {
          const double here = w[j * axes + axis];
          const bool last = j + 1 == static_cast<std::size_t>(sites);
          const double next = !last ? w[(j + 1) * axes + axis] : far_end == FarEnd::fixed ? 0.0 : here;
          const double strain = next - here;
          const double momentum = p[j * axes + axis];
          terms.push_back(0.5 / 5.0 * (momentum * momentum) + 0.5 * 2000.0 * (strain * strain));
        }
        environment += serial_sum(terms);
        interaction += 0.5 * 2000.0 * (w[axis] - head[axis]) * (w[axis] - head[axis]);
      }
      EXPECT_EQ(energy.environment, environment);
      EXPECT_NEAR(energy.interaction, interaction, 1e-13 * interaction);
      EXPECT_EQ(energy.dissipated, 0.0);
    }
  }
}

}  // namespace
}  // namespace bathline
