// Implicit steps of a line in blocks against single steps, whose linear system is solved exactly over the ranks.
#include "model/line/implicit/block_stepper.hpp"

#include <gtest/gtest.h>

#include "driven_line.hpp"
#include "method_cases.hpp"
#include "petsc_options.hpp"
#include "rank_subset.hpp"

namespace bathline::block_stepper_test {
namespace {

LineConstants constants(FarEnd far_end) { return {.mass = 1.3, .stiffness = 2.9, .far_end = far_end, .dashpot = 0.0}; }

PartitionedRungeKutta gauss(int stages) {
  return std::get<PartitionedRungeKutta>(method_case("gauss(stages=" + std::to_string(stages) + ")").scheme);
}

const PartitionedRungeKutta midpoint = one_stage(0.5, 0.5);

TEST(MpiLineBlock, OneStageEqualsSingleSteps) {
  const PartitionedRungeKutta schemes[] = {midpoint, one_stage(0.75, 0.25), one_stage(0.3, 0.7), one_stage(1.0, 1.0)};
  RankSubset subset(7);
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const PartitionedRungeKutta& scheme : schemes) {
      // The others are stable only for short steps.
      const double a_hat = scheme.a_hat(0, 0);
      const bool any_step = a_hat == 0.5 || a_hat == 1.0;
      for (const double h : {1e-5, 0.03, 0.4, any_step ? 2.0 : 0.8}) {
        // One segment on one rank, or with tiles; on several ranks with and without tiles on the first and last.
        for (const std::int64_t sites : {1, 2, 60, 1000, 6007}) {
          if (!subset.takes_next()) continue;
          SCOPED_TRACE(testing::Message() << "far end " << static_cast<int>(far_end) << ", a^ = " << a_hat
                                          << ", h = " << h << ", " << sites << " sites");
          Course course{constants(far_end), scheme, h, sites, 2, {}};
          const int limit = block_limit(course);
          if (sites == 6007) {
            EXPECT_GT(limit, 0);
          }
          if (limit == 0) continue;
          course.blocks = {limit, 1, limit - 1, 2};
          expect_blocks_to_equal_single_steps(course);
        }
      }
    }
  }
}

TEST(MpiLineBlock, OneStageLongRuns) {
  Course course{constants(FarEnd::matched), midpoint, 0.3, 3000, 1, {}};
  course.blocks.assign(60, block_limit(course));
  ASSERT_GE(course.blocks.front(), 8);
  expect_blocks_to_equal_single_steps(course);
}

// A rank must hold all sites that a block reaches. With one site less no block is possible.
TEST(MpiLineBlock, OneStageNeedsItsReachOnEveryRank) {
  const int ranks = test_world().size();
  if (ranks == 1) GTEST_SKIP() << "on one rank the whole line is within reach";
  for (const double h : {2.0, 5.0, 8.0}) {
    for (const FarEnd far_end : {FarEnd::fixed, FarEnd::matched}) {
      SCOPED_TRACE(testing::Message() << "h = " << h);
      const LineRecursion recursion = LineRecursion::of(constants(far_end), midpoint, h).value();
      std::int64_t min_sites = LineState::min_sites_per_rank;
      while (cheapest_reach<LineOneStageTile>(recursion, min_sites).steps == 0)
        min_sites += LineState::min_sites_per_rank;
      ASSERT_GT(min_sites, LineState::min_sites_per_rank);
      Course course{constants(far_end), midpoint, h, ranks * min_sites, 1, {}};
      const int limit = block_limit(course);
      ASSERT_GT(limit, 0);
      course.blocks = {limit, limit};
      expect_blocks_to_equal_single_steps(course);
      --course.sites;
      EXPECT_EQ(block_limit(course), 0);
      // Without blocks a line is compared with dense algebra by other tests.
    }
  }
}

// No block is possible either if influence decays too slowly, or if PETSc's options ask for another solver.
TEST(MpiLineBlock, OneStageNeedsDecay) {
  double shortest_without = 0.0;
  for (double h = 1.0; shortest_without == 0.0; h *= 1.02) {
    Course course{constants(FarEnd::fixed), midpoint, h, 6007, 1, {}};
    const int limit = block_limit(course);
    if (limit == 0) {
      shortest_without = h;
    } else if (block_limit({constants(FarEnd::fixed), midpoint, 1.02 * h, 6007, 1, {}}) == 0) {
      course.blocks = {limit, limit};
      expect_blocks_to_equal_single_steps(course);
    }
  }
  EXPECT_GT(shortest_without, 5.0);
  EXPECT_LT(shortest_without, 20.0);
  EXPECT_EQ(block_limit({constants(FarEnd::fixed), midpoint, 1000.0, 6007, 1, {}}), 0);
  const PetscOptionsScope options({{"-ksp_type", "cg"}, {"-pc_type", "jacobi"}});
  EXPECT_EQ(block_limit({constants(FarEnd::fixed), midpoint, 0.3, 6007, 1, {}}), 0);
}

TEST(MpiLineBlock, StagesEqualSingleSteps) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const int stages : {2, 3, 4}) {
      for (const double h : {1e-5, 0.03, 0.4, 2.0}) {
        // One segment on one rank, or with tiles; on several ranks with and without tiles on the first and last.
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
          expect_blocks_to_equal_single_steps(course);
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
    expect_blocks_to_equal_single_steps(course);
  }
}

// A rank must hold all sites that a block reaches. With one site less no block is possible.
TEST(MpiLineBlock, StagesNeedTheirReachOnEveryRank) {
  const int ranks = test_world().size();
  if (ranks == 1) GTEST_SKIP() << "on one rank the whole line is within reach";
  for (const int stages : {2, 3}) {
    for (const double h : {3.0, 6.0}) {
      SCOPED_TRACE(testing::Message() << stages << " stages, h = " << h);
      const LineConstants line = constants(FarEnd::fixed);
      const LineRecursion recursion = LineRecursion::of(line, gauss(stages), h).value();
      std::int64_t min_sites = LineState::min_sites_per_rank;
      while (cheapest_reach<LineStageTile>(recursion, min_sites).steps == 0) min_sites += LineState::min_sites_per_rank;
      ASSERT_GT(min_sites, LineState::min_sites_per_rank);
      Course course{line, gauss(stages), h, ranks * min_sites, 1, {}};
      const int limit = block_limit(course);
      ASSERT_GT(limit, 0);
      course.blocks = {limit, limit};
      expect_blocks_to_equal_single_steps(course);
      --course.sites;
      EXPECT_EQ(block_limit(course), 0);
      // Without blocks a line is compared with dense algebra by other tests.
    }
  }
}

// No block is possible either if influence decays too slowly, or if the scheme has no recursion.
TEST(MpiLineBlock, StagesNeedDecayAndARecursion) {
  double shortest_without = 0.0;
  for (double h = 1.0; shortest_without == 0.0; h *= 1.05) {
    Course course{constants(FarEnd::fixed), gauss(2), h, 6007, 1, {}};
    const int limit = block_limit(course);
    if (limit == 0) {
      shortest_without = h;
    } else if (block_limit({constants(FarEnd::fixed), gauss(2), 1.05 * h, 6007, 1, {}}) == 0) {
      course.blocks = {limit, limit};
      expect_blocks_to_equal_single_steps(course);
    }
  }
  EXPECT_GT(shortest_without, 3.0);
  EXPECT_LT(shortest_without, 30.0);
  EXPECT_EQ(block_limit({constants(FarEnd::fixed), gauss(2), 1000.0, 6007, 1, {}}), 0);
  const auto lobatto = std::get<PartitionedRungeKutta>(method_case("lobatto(stages=3)").scheme);
  EXPECT_EQ(block_limit({constants(FarEnd::fixed), lobatto, 0.3, 6007, 1, {}}), 0);
}

// A line may be advanced by implicit schemes with different numbers of stages alternately.
TEST(MpiLineBlock, AllowsOtherSchemesOnTheSameLine) {
  Line line("line", Attachment({{0, 1.0}}, 1), constants(FarEnd::fixed), 6007, test_world());
  line.prepare({});
  const auto two_stages = line.implicit_stepper(gauss(2), 0.3),
             one_stage_stepper = line.implicit_stepper(one_stage(0.5, 0.5), 1e-3);
  EXPECT_NE(two_stages->max_block_steps(), one_stage_stepper->max_block_steps());
  EXPECT_EQ(line.implicit_stepper(gauss(2), 0.3)->max_block_steps(), two_stages->max_block_steps());
}

}  // namespace
}  // namespace bathline::block_stepper_test
