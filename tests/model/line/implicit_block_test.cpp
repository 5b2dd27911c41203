// Implicit steps of a line in blocks against the same steps one by one, whose linear system is reduced over the ranks
// exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/line/line.hpp"
#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "random_numbers.hpp"

namespace bathline {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

struct Course {
  LineConstants constants;
  OneStageScheme scheme;
  double h = 0.0;
  std::int64_t sites = 0;
  int axes = 1;
  std::vector<int> blocks;  // steps of one after the other
};

struct Outcome {
  std::vector<double> w, p;                // at the end, on rank 0
  std::vector<std::vector<double>> force;  // on the head, at every stage, on rank 0
  double dissipated = 0.0;
};

/// A line in a random state, driven by a head in random motion.
Outcome outcome(const Course& course, bool in_blocks) {
  Line line("line", Attachment({{0, 1.0}}, course.axes), course.constants, course.sites, test_world());
  line.prepare({});
  RandomNumbers random(23);
  const auto size = static_cast<std::size_t>(course.sites * course.axes);
  const std::vector<double> w = random.list(size), p = random.list(size);
  line.scatter_state(w, p);
  line.set_up_implicit(course.scheme, course.h);
  Outcome result;
  const auto axes = static_cast<std::size_t>(course.axes);
  std::vector<double> head(axes), velocity(axes);
  for (const int steps : course.blocks) {
    EXPECT_LE(steps, std::max(1, line.implicit_block_limit()));
    if (in_blocks) line.open_implicit_block(steps);
    for (int step = 0; step < steps; ++step) {
      for (double& v : velocity) v = random.uniform();
      if (!in_blocks || test_world().is_root()) {
        const std::optional<HeadResponse> response = line.eliminate(head);
        EXPECT_TRUE(response.has_value());
        result.force.push_back(response->constant);
        for (std::size_t axis = 0; axis < result.force.back().size(); ++axis) {
          result.force.back()[axis] -= response->damping * velocity[axis];
        }
        line.complete(velocity);
      }
      for (std::size_t axis = 0; axis < axes; ++axis) {
        head[axis] += (course.scheme.b + course.scheme.b_end) * course.h * velocity[axis];
      }
    }
    if (in_blocks) line.close_implicit_block();
  }
  line.gather_state(result.w, result.p);
  result.dissipated = line.energy(head).dissipated;
  return result;
}

double largest(const std::vector<double>& values) {
  double most = 0.0;
  for (const double x : values) most = std::max(most, std::abs(x));
  return most;
}

/// Of a course that has blocks.
void expect_blocks_to_change_nothing(const Course& course) {
  const Outcome found = outcome(course, true), expected = outcome(course, false);
  int steps = 0;
  for (const int block : course.blocks) steps += block;
  // Every step rounds a few numbers of the size of the largest, and rounding errors are carried on as they are. A long
  // step's linear system gathers those of h w0 sites.
  const double size = std::sqrt(course.constants.stiffness * course.constants.mass);
  const double gathered = 1.0 + course.h * course.constants.stiffness / size;
  const double scale = largest(expected.w) + largest(expected.p) / size;
  const double tolerance = 4.0 * epsilon * steps * scale * gathered;
  EXPECT_NEAR(found.dissipated, expected.dissipated, 100.0 * steps * epsilon * (1.0 + expected.dissipated));
  if (!test_world().is_root()) return;
  ASSERT_EQ(found.w.size(), expected.w.size());
  for (std::size_t j = 0; j < found.w.size(); ++j) {
    ASSERT_NEAR(found.w[j], expected.w[j], tolerance) << "of " << found.w.size() << ", number " << j;
    ASSERT_NEAR(found.p[j], expected.p[j], tolerance * size) << "of " << found.w.size() << ", number " << j;
  }
  ASSERT_EQ(found.force.size(), expected.force.size());
  for (std::size_t i = 0; i < found.force.size(); ++i) {
    for (std::size_t axis = 0; axis < found.force[i].size(); ++axis) {
      ASSERT_NEAR(found.force[i][axis], expected.force[i][axis], 2.0 * course.constants.stiffness * tolerance) << i;
    }
  }
}

/// Of a line that has no state yet, as when a recipe is only checked.
int block_limit(const Course& course) {
  Line line("line", Attachment({{0, 1.0}}, course.axes), course.constants, course.sites, test_world());
  line.set_up_implicit(course.scheme, course.h);
  return line.implicit_block_limit();
}

LineConstants constants(FarEnd far_end) { return {.mass = 1.3, .stiffness = 2.9, .far_end = far_end, .dashpot = 0.0}; }

constexpr OneStageScheme midpoint{0.5, 0.5, 0.5, 0.5};

TEST(MpiLineImplicitBlock, EqualsSingleSteps) {
  const OneStageScheme schemes[] = {midpoint, {0.25, 0.75, 0.75, 0.25}, {0.7, 0.3, 0.3, 0.7}, {1.0, 1.0, 0.0, 0.0}};
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    for (const OneStageScheme& scheme : schemes) {
      // The others are stable for short steps only.
      const bool any_step = scheme.a == 0.5 || scheme.a == 1.0;
      for (const double h : {1e-5, 0.03, 0.4, any_step ? 2.0 : 0.8}) {
        // All in one window on one rank, or with tiles; on several ranks with and without tiles on the first and last.
        for (const std::int64_t sites : {1, 2, 60, 1000, 6007}) {
          SCOPED_TRACE(testing::Message() << "far end " << static_cast<int>(far_end) << ", a = " << scheme.a
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

TEST(MpiLineImplicitBlock, LongRuns) {
  Course course{constants(FarEnd::matched), midpoint, 0.3, 3000, 1, {}};
  course.blocks.assign(60, block_limit(course));
  ASSERT_GE(course.blocks.front(), 8);
  expect_blocks_to_change_nothing(course);
}

// A rank must hold all that a block reaches. One site less, and no block is left.
TEST(MpiLineImplicitBlock, NeedsItsReachOnEveryRank) {
  const int ranks = test_world().size();
  if (ranks == 1) GTEST_SKIP() << "on one rank nothing is out of reach";
  for (const double h : {1.2, 2.0, 5.0}) {
    for (const FarEnd far_end : {FarEnd::fixed, FarEnd::matched}) {
      SCOPED_TRACE(testing::Message() << "h = " << h);
      const ImplicitRecursion recursion(constants(far_end), midpoint, h);
      std::int64_t least = Line::minimum_piece;
      while (cheapest_reach(recursion, least).steps == 0) ++least;
      ASSERT_GT(least, Line::minimum_piece);
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
TEST(MpiLineImplicitBlock, NeedsDecay) {
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

}  // namespace
}  // namespace bathline
