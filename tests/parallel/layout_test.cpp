// Pieces of a line: complete, in order, even, and never too short.
#include "parallel/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace bathline::layout_test {
namespace {

TEST(Layout, CutsIntoEvenPiecesInTheOrderOfTheRanks) {
  for (const std::int64_t total : {1, 2, 3, 39, 40, 41, 79, 80, 81, 119, 120, 200, 201, 4099}) {
    for (const int ranks : {1, 2, 3, 5, 8, 64}) {
      for (const std::int64_t minimum : {1, 3, 40}) {
        SCOPED_TRACE(testing::Message() << total << " sites, " << ranks << " ranks, at least " << minimum);
        const Layout layout(total, ranks, minimum);
        EXPECT_EQ(layout.total(), total);
        EXPECT_EQ(layout.ranks(), ranks);
        EXPECT_EQ(layout.first(0), 0);
        EXPECT_EQ(layout.first(ranks), total);
        std::int64_t smallest = total, largest = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          EXPECT_EQ(layout.first(rank) + layout.count(rank), layout.first(rank + 1));
          EXPECT_EQ(layout.count(rank) > 0, rank < layout.active_ranks());
          if (rank >= layout.active_ranks()) continue;
          smallest = std::min(smallest, layout.count(rank));
          largest = std::max(largest, layout.count(rank));
        }
        EXPECT_LE(largest - smallest, 1);
        EXPECT_GT(layout.count(0), 0);
        if (layout.active_ranks() > 1) {
          EXPECT_GE(smallest, minimum);
        }
        // As many ranks take part as the minimum allows.
        if (layout.active_ranks() < ranks) {
          EXPECT_LT(total, minimum * (layout.active_ranks() + 1));
        }
      }
    }
  }
}

TEST(Layout, CountsBeyondThirtyTwoBits) {
  const Layout layout(std::int64_t{10'000'000'000}, 3, 40);
  EXPECT_EQ(layout.first(3), 10'000'000'000);
  EXPECT_EQ(layout.count(0), 3'333'333'334);
  EXPECT_EQ(layout.count(2), 3'333'333'333);
}

}  // namespace
}  // namespace bathline::layout_test
