// Copies of the neighbours' sites, also from ranks beyond the next one.
#include "parallel/halo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "test_world.hpp"

namespace bathline::halo_test {
namespace {

double value_of(int field, std::int64_t site) { return 1000.0 * field + static_cast<double>(site) + 0.5; }

TEST(MpiHalo, BringsTheSitesOnBothSides) {
  const Communicator& world = test_world();
  for (const std::int64_t total : {1, 2, 3, 5, 7, 23, 200}) {
    for (const int depth : {1, 2, 3, 64}) {
      for (const int fields : {1, 3}) {
        SCOPED_TRACE(testing::Message() << total << " sites, " << depth << " deep, " << fields << " fields");
        const Layout layout(total, world.size(), 1);  // some pieces are shorter than the depth of the halo
        Halo halo(layout, world, depth, fields);
        const std::int64_t first = layout.first(world.rank()), count = layout.count(world.rank());
        if (count > 0) {
          EXPECT_EQ(halo.left(), std::min<std::int64_t>(depth, first));
          EXPECT_EQ(halo.right(), std::min<std::int64_t>(depth, total - first - count));
        } else {
          EXPECT_EQ(halo.left() + halo.right(), 0);
        }
        const auto size = static_cast<std::size_t>(halo.left() + count + halo.right());
        for (int round = 0; round < 2; ++round) {
          std::vector<std::vector<double>> arrays(static_cast<std::size_t>(fields), std::vector<double>(size, -1.0));
          std::vector<double*> pointers;
          for (int field = 0; field < fields; ++field) {
            auto& array = arrays[static_cast<std::size_t>(field)];
            for (std::int64_t j = 0; j < count; ++j) {
              array[static_cast<std::size_t>(halo.left() + j)] = value_of(field + round, first + j);
            }
            pointers.push_back(array.data());
          }
          halo.exchange(pointers);
          for (int field = 0; field < fields; ++field) {
            for (std::size_t i = 0; i < size; ++i) {
              const std::int64_t site = first - halo.left() + static_cast<std::int64_t>(i);
              ASSERT_EQ(arrays[static_cast<std::size_t>(field)][i], value_of(field + round, site)) << "site " << site;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace bathline::halo_test
