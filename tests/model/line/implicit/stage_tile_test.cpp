// Steps with several stages of a piece of a line in cache: against the exact stage system of the piece, and the reach
// of a block.
#include "model/line/implicit/stage_tile.hpp"

#include <gtest/gtest.h>

#include "method_cases.hpp"
#include "model/line/implicit/segment.hpp"
#include "piece.hpp"

namespace bathline::stage_tile_test {
namespace {

constexpr LineConstants line{.mass = 0.7, .stiffness = 1.9, .far_end = FarEnd::free, .dashpot = 0.0};
constexpr double steps_in_seconds[] = {1e-6, 0.02, 0.3, 1.0, 4.0};

PartitionedRungeKutta gauss(int stages) {
  return std::get<PartitionedRungeKutta>(method_case("gauss(stages=" + std::to_string(stages) + ")").scheme);
}

/// Two stages with distinct real eigenvalues.
PartitionedRungeKutta two_reals() {
  const Eigen::MatrixXd a{{0.4, 0.0}, {0.3, 0.7}};
  return {.a = a, .a_hat = a, .b = Eigen::VectorXd{{0.6, 0.4}}};
}

template <int stages>
void expect_tile_to_equal_the_stage_system(double h) {
  using Segment = LineImplicitSegment<stages>;
  const std::optional<LineRecursion> recursion = LineRecursion::of(line, gauss(stages), h);
  ASSERT_TRUE(recursion && LineStageTile::supports(*recursion));
  const ImplicitReach reach = cheapest_reach<LineStageTile>(*recursion, 512);
  ASSERT_GT(reach.steps, 0);
  // Few sites, so that parts are padded; a number that no register width divides; the capacity.
  for (const std::int64_t sites :
       {2 * reach.sites + 1, 2 * reach.sites + 333, LineStageTile::capacity_for(*recursion, reach.sites)}) {
    SCOPED_TRACE(testing::Message() << stages << " stages, h = " << h << ", " << sites << " sites");
    const typename Segment::Step step({line.stiffness, line.mass}, line.stiffness, line, gauss(stages), h);
    expect_tile_to_equal<LineStageTile>(Segment(step, Segment::Position::far_end, sites), *recursion, reach, sites,
                                        h * recursion->impedance / line.mass, stages);
  }
}

TEST(LineStageTile, EqualsTheStageSystemInside) {
  for (const double h : steps_in_seconds) {
    expect_tile_to_equal_the_stage_system<1>(h);
    expect_tile_to_equal_the_stage_system<2>(h);
    expect_tile_to_equal_the_stage_system<3>(h);
    expect_tile_to_equal_the_stage_system<4>(h);
  }
}

TEST(LineStageTile, ReachIsWhereInfluenceEnds) {
  for (const int stages : {2, 3, 4}) {
    for (const double h : steps_in_seconds) {
      SCOPED_TRACE(testing::Message() << stages << " stages, h = " << h);
      const LineRecursion recursion = LineRecursion::of(line, gauss(stages), h).value();
      expect_influence_to_end_at<LineStageTile>(cheapest_reach<LineStageTile>(recursion, 512), recursion, stages);
    }
  }
}

bool has_a_tile(const PartitionedRungeKutta& scheme) {
  const std::optional<LineRecursion> recursion = LineRecursion::of(line, scheme, 0.3);
  return recursion && LineStageTile::supports(*recursion);
}

// A singular stage matrix, one with ill-conditioned eigenvectors, and numbers of eigenvalues without a sweep.
TEST(LineStageTile, DoesNotSupportOtherSchemes) {
  for (const MethodCase& method : method_cases()) {
    const auto* scheme = std::get_if<PartitionedRungeKutta>(&method.scheme);
    if (scheme == nullptr || scheme->stages() == 1) continue;  // see one_stage_tile.hpp
    EXPECT_EQ(has_a_tile(*scheme), method.method->entry.name == "gauss") << method.name;
  }
  EXPECT_FALSE(has_a_tile(two_reals()));
  PartitionedRungeKutta parallel = two_reals();
  parallel.a = parallel.a_hat = Eigen::MatrixXd{{0.4, 0.1}, {-1e-9, 0.4}};
  EXPECT_FALSE(has_a_tile(parallel));
  parallel.a(1, 0) = parallel.a_hat(1, 0) = -0.1;
  EXPECT_TRUE(has_a_tile(parallel));
}

}  // namespace
}  // namespace bathline::stage_tile_test
