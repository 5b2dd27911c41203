// Implicit steps of a line in blocks against the same steps one by one, whose linear system is reduced over the ranks
// exactly.
#include "model/line/implicit/block_stepper.hpp"

#include <gtest/gtest.h>

#include "driven_line.hpp"
#include "method_cases.hpp"
#include "petsc_options.hpp"

namespace bathline::block_test {
namespace {

LineConstants constants(FarEnd far_end) { return {.mass = 1.3, .stiffness = 2.9, .far_end = far_end, .dashpot = 0.0}; }

PartitionedRungeKutta gauss(int stages) {
  return std::get<PartitionedRungeKutta>(method_case("gauss(stages=" + std::to_string(stages) + ")").scheme);
}

const PartitionedRungeKutta midpoint = one_stage(0.5, 0.5);

TEST(MpiLineBlock, OneStageEqualsSingleSteps) {
  const PartitionedRungeKutta schemes[] = {midpoint, one_stage(0.75, 0.25), one_stage(0.3, 0.7), one_stage(1.0, 1.0)};
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const PartitionedRungeKutta& scheme : schemes) {
      // The others are stable for short steps only.
      const double a_hat = scheme.a_hat(0, 0);
      const bool any_step = a_hat == 0.5 || a_hat == 1.0;
      for (const double h : {1e-5, 0.03, 0.4, any_step ? 2.0 : 0.8}) {
        // All in one window on one rank, or with tiles; on several ranks with and without tiles on the first and last.
        for (const std::int64_t sites : {1, 2, 60, 1000, 6007}) {
          SCOPED_TRACE(testing::Message() << "far end " << static_cast<int>(far_end) << ", a^ = " << a_hat
                                          << ", h = " << h << ", " << sites << " sites");
          Course course{constants(far_end), scheme, h, sites, 2, {}};
          const int limit = block_limit(course);
          if (sites == 6007) {
            EXPECT_GT(limit, 0);
          }
          if (limit == 0) continue;
          course.blocks = {limit, 1, limit - 1, 2};
          expect_blocks_to_change_nothing(course);
        }
      }
    }
  }
}

TEST(MpiLineBlock, OneStageLongRuns) {
  Course course{constants(FarEnd::matched), midpoint, 0.3, 3000, 1, {}};
  course.blocks.assign(60, block_limit(course));
  ASSERT_GE(course.blocks.front(), 8);
  expect_blocks_to_change_nothing(course);
}

// A rank must hold all that a block reaches. One site less, and no block is left.
TEST(MpiLineBlock, OneStageNeedsItsReachOnEveryRank) {
  const int ranks = test_world().size();
  if (ranks == 1) GTEST_SKIP() << "on one rank nothing is out of reach";
  for (const double h : {1.2, 2.0, 5.0}) {
    for (const FarEnd far_end : {FarEnd::fixed, FarEnd::matched}) {
      SCOPED_TRACE(testing::Message() << "h = " << h);
      const LineRecursion recursion = LineRecursion::of(constants(far_end), midpoint, h).value();
      std::int64_t least = LineState::minimum_piece;
      while (cheapest_reach<LineOneStageTile>(recursion, least).steps == 0) ++least;
      ASSERT_GT(least, LineState::minimum_piece);
      Course course{constants(far_end), midpoint, h, ranks * least, 1, {}};
      const int limit = block_limit(course);
      ASSERT_GT(limit, 0);
      course.blocks = {limit, limit};
      expect_blocks_to_change_nothing(course);
      --course.sites;
      EXPECT_EQ(block_limit(course), 0);
      // Such a line is stepped without blocks, which the other tests compare with dense algebra.
    }
  }
}

// So is a line on which influence decays too slowly for any block, and one that somebody wants another solver for.
TEST(MpiLineBlock, OneStageNeedsDecay) {
  double shortest_without = 0.0;
  for (double h = 1.0; shortest_without == 0.0; h *= 1.02) {
    Course course{constants(FarEnd::fixed), midpoint, h, 6007, 1, {}};
    const int limit = block_limit(course);
    if (limit == 0) {
      shortest_without = h;
    } else if (block_limit({constants(FarEnd::fixed), midpoint, 1.02 * h, 6007, 1, {}}) == 0) {
      course.blocks = {limit, limit};
      expect_blocks_to_change_nothing(course);
    }
  }
  EXPECT_GT(shortest_without, 5.0);
  EXPECT_LT(shortest_without, 20.0);
  EXPECT_EQ(block_limit({constants(FarEnd::fixed), midpoint, 1000.0, 6007, 1, {}}), 0);
  const PetscOptionsScope options({{"-ksp_type", "cg"}, {"-pc_type", "jacobi"}});
  EXPECT_EQ(block_limit({constants(FarEnd::fixed), midpoint, 0.3, 6007, 1, {}}), 0);
}

TEST(MpiLineBlock, StagesEqualsSingleSteps) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const int stages : {2, 3, 4}) {
      for (const double h : {1e-5, 0.03, 0.4, 2.0}) {
        // All in one window on one rank, or with tiles; on several ranks with and without tiles on the first and last.
        for (const std::int64_t sites : {1, 2, 60, 1000, 6007}) {
          if (sites == 6007 && far_end != FarEnd::matched) continue;
          SCOPED_TRACE(testing::Message() << "far end " << static_cast<int>(far_end) << ", " << stages
                                          << " stages, h = " << h << ", " << sites << " sites");
          Course course{constants(far_end), gauss(stages), h, sites, 2, {}};
          const int limit = block_limit(course);
          if (sites == 6007) {
            EXPECT_GT(limit, 0);
          }
          if (limit == 0) continue;
          course.blocks = {limit, 1, limit - 1, 2};
          expect_blocks_to_change_nothing(course);
        }
      }
    }
  }
}

TEST(MpiLineBlock, StagesLongRuns) {
  for (const int stages : {2, 3, 4}) {
    SCOPED_TRACE(testing::Message() << stages << " stages");
    Course course{constants(FarEnd::matched), gauss(stages), 0.3, 3000, 1, {}};
    const int limit = block_limit(course);
    ASSERT_GE(limit, 8);
    course.blocks.assign(static_cast<std::size_t>(400 / limit), limit);
    expect_blocks_to_change_nothing(course);
  }
}

// A rank must hold all that a block reaches. One site less, and no block is left.
TEST(MpiLineBlock, StagesNeedsItsReachOnEveryRank) {
  const int ranks = test_world().size();
  if (ranks == 1) GTEST_SKIP() << "on one rank nothing is out of reach";
  for (const int stages : {2, 3}) {
    for (const double h : {3.0, 6.0}) {
      SCOPED_TRACE(testing::Message() << stages << " stages, h = " << h);
      const LineConstants line = constants(FarEnd::fixed);
      const LineRecursion recursion = LineRecursion::of(line, gauss(stages), h).value();
      std::int64_t least = LineState::minimum_piece;
      while (cheapest_reach<LineStageTile>(recursion, least).steps == 0) ++least;
      ASSERT_GT(least, LineState::minimum_piece);
      Course course{line, gauss(stages), h, ranks * least, 1, {}};
      const int limit = block_limit(course);
      ASSERT_GT(limit, 0);
      course.blocks = {limit, limit};
      expect_blocks_to_change_nothing(course);
      --course.sites;
      EXPECT_EQ(block_limit(course), 0);
      // Such a line is stepped without blocks, which other tests compare with dense algebra.
    }
  }
}

// So is a line on which influence decays too slowly for any block, and one of a scheme that is no recursion.
TEST(MpiLineBlock, StagesNeedsDecayAndARecursion) {
  double shortest_without = 0.0;
  for (double h = 1.0; shortest_without == 0.0; h *= 1.05) {
    Course course{constants(FarEnd::fixed), gauss(2), h, 6007, 1, {}};
    const int limit = block_limit(course);
    if (limit == 0) {
      shortest_without = h;
    } else if (block_limit({constants(FarEnd::fixed), gauss(2), 1.05 * h, 6007, 1, {}}) == 0) {
      course.blocks = {limit, limit};
      expect_blocks_to_change_nothing(course);
    }
  }
  EXPECT_GT(shortest_without, 3.0);
  EXPECT_LT(shortest_without, 30.0);
  EXPECT_EQ(block_limit({constants(FarEnd::fixed), gauss(2), 1000.0, 6007, 1, {}}), 0);
  const auto lobatto = std::get<PartitionedRungeKutta>(method_case("lobatto(stages=3)").scheme);
  EXPECT_EQ(block_limit({constants(FarEnd::fixed), lobatto, 0.3, 6007, 1, {}}), 0);
}

// A line may change from one kind of implicit scheme to the other.
TEST(MpiLineBlock, GivesWayToOtherSchemes) {
  Line line("line", Attachment({{0, 1.0}}, 1), constants(FarEnd::fixed), 6007, test_world());
  line.prepare({});
  const auto of_stages = line.implicit_stepper(gauss(2), 0.3),
             of_one = line.implicit_stepper(one_stage(0.5, 0.5), 1e-3);
  EXPECT_NE(of_stages->max_block_steps(), of_one->max_block_steps());
  EXPECT_EQ(line.implicit_stepper(gauss(2), 0.3)->max_block_steps(), of_stages->max_block_steps());
}

}  // namespace
}  // namespace bathline::block_test
