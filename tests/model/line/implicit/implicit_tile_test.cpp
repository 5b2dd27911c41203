// Implicit steps of a piece of a line in cache: against plain loops, and how far their influence goes.
#include "model/line/implicit/implicit_tile.hpp"

#include <gtest/gtest.h>

#include "model/line/implicit/implicit_window.hpp"
#include "piece.hpp"

namespace bathline {
namespace {

constexpr LineConstants line{.mass = 0.7, .stiffness = 1.9, .far_end = FarEnd::free, .dashpot = 0.0};
constexpr OneStage midpoint{0.5, 0.5, 0.5, 0.5};
constexpr double steps_in_seconds[] = {1e-6, 0.02, 0.3, 1.0, 4.0};

TEST(LineImplicitTile, EqualsPlainLoopsInside) {
  for (const double h : steps_in_seconds) {
    const ImplicitRecursion recursion(line, midpoint, h);
    const ImplicitReach reach = cheapest_reach(recursion, 512);
    ASSERT_GT(reach.steps, 0);
    // Few sites, such that parts are padded; numbers that no register divides; as many as fit.
    for (const std::int64_t sites :
         {2 * reach.sites + 1, 2 * reach.sites + 333, LineImplicitTile::capacity_for(recursion, reach.sites)}) {
      SCOPED_TRACE(testing::Message() << "h = " << h << ", " << sites << " sites");
      expect_tile_to_equal<LineImplicitTile>(
          LineImplicitWindow({line, midpoint, h}, LineImplicitWindow::Place::far_end, sites), recursion, reach, sites,
          h * recursion.impedance / line.mass, 1);
    }
  }
}

TEST(LineImplicitTile, ReachIsWhereInfluenceEnds) {
  for (const double h : steps_in_seconds) {
    SCOPED_TRACE(testing::Message() << "h = " << h);
    const ImplicitRecursion recursion(line, midpoint, h);
    expect_influence_to_end_at<LineImplicitTile>(cheapest_reach(recursion, 512), recursion, 1);
  }
}

}  // namespace
}  // namespace bathline
