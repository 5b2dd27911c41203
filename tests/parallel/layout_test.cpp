// Pieces of a line: complete, in order, even, and of whole units.
#include "parallel/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace bathline::layout_test {
namespace {

TEST(Layout, CutsIntoEvenPiecesInTheOrderOfTheRanks) {
  for (const std::int64_t total : {1, 2, 3, 39, 40, 41, 79, 80, 81, 119, 120, 200, 201, 4099}) {
    for (const int ranks : {1, 2, 3, 5, 8, 64}) {
      for (const std::int64_t unit : {1, 3, 40}) {
        SCOPED_TRACE(testing::Message() << total << " sites, " << ranks << " ranks, units of " << unit);
        const Layout layout(total, ranks, unit);
        EXPECT_EQ(layout.total(), total);
        EXPECT_EQ(layout.ranks(), ranks);
        EXPECT_EQ(layout.first(0), 0);
        EXPECT_EQ(layout.first(ranks), total);
        std::int64_t smallest = total, largest = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          EXPECT_EQ(layout.first(rank) + layout.count(rank), layout.first(rank + 1));
          EXPECT_EQ(layout.count(rank) > 0, rank < layout.active_ranks());
          if (rank >= layout.active_ranks()) continue;
          const std::int64_t rest = rank + 1 == layout.active_ranks() ? total % unit : 0;
          EXPECT_EQ((layout.count(rank) - rest) % unit, 0);
          smallest = std::min(smallest, layout.count(rank) - rest);
          largest = std::max(largest, layout.count(rank) - rest);
        }
        EXPECT_LE(largest - smallest, unit);
        EXPECT_GT(layout.count(0), 0);
        EXPECT_EQ(layout.min_count(), layout.active_ranks() == 1 ? total : smallest);
        if (layout.active_ranks() > 1) {
          EXPECT_GE(smallest, unit);
        }
        // As many ranks take part as there are units.
        if (layout.active_ranks() < ranks) {
          EXPECT_LT(total, unit * (layout.active_ranks() + 1));
        }
      }
    }
  }
}

TEST(Layout, CountsBeyondThirtyTwoBits) {
  const Layout layout(std::int64_t{10'000'000'000}, 3, 40);
  EXPECT_EQ(layout.first(3), 10'000'000'000);
  EXPECT_EQ(layout.count(0), 3'333'333'360);
  EXPECT_EQ(layout.count(2), 3'333'333'320);
}

}  // namespace
}  // namespace bathline::layout_test
