// Implicit one-stage steps of a piece of a line in cache: against a segment, and the reach of a block.
#include "model/line/implicit/one_stage_tile.hpp"

#include <gtest/gtest.h>

#include "model/line/implicit/segment.hpp"
#include "piece.hpp"

namespace bathline::one_stage_tile_test {
namespace {

constexpr LineConstants line{.mass = 0.7, .stiffness = 1.9, .far_end = FarEnd::free, .dashpot = 0.0};
const PartitionedRungeKutta midpoint = one_stage(0.5, 0.5);
using Segment = LineImplicitSegment<1>;
constexpr double steps_in_seconds[] = {1e-6, 0.02, 0.3, 1.0, 4.0};

TEST(LineOneStageTile, EqualsPlainLoopsInside) {
  for (const double h : steps_in_seconds) {
    const LineRecursion recursion = LineRecursion::of(line, midpoint, h).value();
    const ImplicitReach reach = cheapest_reach<LineOneStageTile>(recursion, 512);
    ASSERT_GT(reach.steps, 0);
    // Few sites, so that parts are padded; a number that no register width divides; the capacity.
    for (const std::int64_t sites :
         {2 * reach.sites + 1, 2 * reach.sites + 333, LineOneStageTile::capacity_for(recursion, reach.sites)}) {
      SCOPED_TRACE(testing::Message() << "h = " << h << ", " << sites << " sites");
      expect_tile_to_equal<LineOneStageTile>(
          Segment({UniformSites{line.stiffness, line.mass}, line.stiffness, line, midpoint, h},
                  Segment::Position::far_end, sites),
          recursion, reach, sites, h * recursion.impedance / line.mass, 1);
    }
  }
}

TEST(LineOneStageTile, ReachIsWhereInfluenceEnds) {
  for (const double h : steps_in_seconds) {
    SCOPED_TRACE(testing::Message() << "h = " << h);
    const LineRecursion recursion = LineRecursion::of(line, midpoint, h).value();
    expect_influence_to_end_at<LineOneStageTile>(cheapest_reach<LineOneStageTile>(recursion, 512), recursion, 1);
  }
}

}  // namespace
}  // namespace bathline::one_stage_tile_test
