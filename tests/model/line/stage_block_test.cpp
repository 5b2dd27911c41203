// Steps of a line with several stages in blocks against the same steps one by one, whose linear system is reduced over
// the ranks exactly.
#include "model/line/stage_block.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "method_cases.hpp"
#include "model/line/line.hpp"
#include "petsc_world.hpp"
#include "random_numbers.hpp"

namespace bathline {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

struct Course {
  LineConstants constants;
  CollocationScheme scheme;
  double h = 0.0;
  std::int64_t sites = 0;
  int axes = 1;
  std::vector<int> blocks;  // steps of one after the other
};

struct Outcome {
  std::vector<double> w, p;             // at the end, on rank 0
  std::vector<Eigen::MatrixXd> forces;  // on the head, stages x axes of every step, on rank 0
  double dissipated = 0.0;
  double energy = 0.0;
};

/// A line in a random state, driven by a head in random motion.
Outcome outcome(const Course& course, bool in_blocks) {
  Line line("line", Attachment({{0, 1.0}}, course.axes), course.constants, course.sites, test_world());
  line.prepare({});
  RandomNumbers random(23);
  const auto size = static_cast<std::size_t>(course.sites * course.axes);
  const std::vector<double> w = random.list(size), p = random.list(size);
  line.scatter_state(w, p);
  line.set_up_stages(course.scheme, course.h);
  Outcome result;
  std::vector<double> head(static_cast<std::size_t>(course.axes));
  Eigen::MatrixXd velocities(course.scheme.stages(), course.axes);
  for (const int steps : course.blocks) {
    EXPECT_LE(steps, std::max(1, line.implicit_block_limit()));
    if (in_blocks) line.open_implicit_block(steps);
    for (int step = 0; step < steps; ++step) {
      for (double& v : velocities.reshaped()) v = random.uniform();
      if (!in_blocks || test_world().is_root()) {
        const StageResponse response = line.eliminate_stages(head).value();
        if (test_world().is_root()) result.forces.push_back(response.constant - response.damping * velocities);
        line.complete_stages(velocities);
      }
      for (int axis = 0; axis < course.axes; ++axis) {
        head[static_cast<std::size_t>(axis)] += course.h * course.scheme.b.dot(velocities.col(axis));
      }
    }
    if (in_blocks) line.close_implicit_block();
  }
  line.gather_state(result.w, result.p);
  const EnvironmentEnergy energy = line.energy(head);
  result.dissipated = energy.dissipated;
  result.energy = energy.environment;
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
  // step's linear system gathers those of h w0 sites, and the terms of its partial fractions are larger than their sum,
  // ever more with the number of stages.
  const double size = std::sqrt(course.constants.stiffness * course.constants.mass);
  const double gathered = 1.0 + course.h * course.constants.stiffness / size;
  const double scale = largest(expected.w) + largest(expected.p) / size;
  const double tolerance = 4.0 * course.scheme.stages() * epsilon * steps * scale * gathered;
  EXPECT_NEAR(found.dissipated, expected.dissipated, 100.0 * steps * epsilon * (1.0 + expected.dissipated));
  EXPECT_NEAR(found.energy, expected.energy, 100.0 * steps * epsilon * expected.energy);
  if (!test_world().is_root()) return;
  ASSERT_EQ(found.w.size(), expected.w.size());
  for (std::size_t j = 0; j < found.w.size(); ++j) {
    ASSERT_NEAR(found.w[j], expected.w[j], tolerance) << "of " << found.w.size() << ", number " << j;
    ASSERT_NEAR(found.p[j], expected.p[j], tolerance * size) << "of " << found.w.size() << ", number " << j;
  }
  ASSERT_EQ(found.forces.size(), expected.forces.size());
  for (std::size_t i = 0; i < found.forces.size(); ++i) {
    ASSERT_LE((found.forces[i] - expected.forces[i]).cwiseAbs().maxCoeff(),
              2.0 * course.constants.stiffness * tolerance)
        << i;
  }
}

CollocationScheme gauss(int stages) {
  return std::get<CollocationScheme>(method_case("gauss(stages=" + std::to_string(stages) + ")").scheme);
}

/// Of a line that has no state yet, as when a recipe is only checked.
int block_limit(const Course& course) {
  Line line("line", Attachment({{0, 1.0}}, course.axes), course.constants, course.sites, test_world());
  line.set_up_stages(course.scheme, course.h);
  return line.implicit_block_limit();
}

LineConstants constants(FarEnd far_end) { return {.mass = 1.3, .stiffness = 2.9, .far_end = far_end, .dashpot = 0.0}; }

TEST(MpiLineStageBlock, EqualsSingleSteps) {
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

TEST(MpiLineStageBlock, LongRuns) {
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
TEST(MpiLineStageBlock, NeedsItsReachOnEveryRank) {
  const int ranks = test_world().size();
  if (ranks == 1) GTEST_SKIP() << "on one rank nothing is out of reach";
  for (const int stages : {2, 3}) {
    for (const double h : {3.0, 6.0}) {
      SCOPED_TRACE(testing::Message() << stages << " stages, h = " << h);
      const LineConstants line = constants(FarEnd::fixed);
      const StageRecursion recursion = StageRecursion::of({line, gauss(stages), h}).value();
      std::int64_t least = Line::minimum_piece;
      while (cheapest_reach(recursion, least).steps == 0) ++least;
      ASSERT_GT(least, Line::minimum_piece);
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
TEST(MpiLineStageBlock, NeedsDecayAndARecursion) {
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
  const auto lobatto = std::get<CollocationScheme>(method_case("lobatto(stages=3)").scheme);
  EXPECT_EQ(block_limit({constants(FarEnd::fixed), lobatto, 0.3, 6007, 1, {}}), 0);
}

// A line may change from one kind of implicit scheme to the other.
TEST(MpiLineStageBlock, GivesWayToOtherSchemes) {
  Line line("line", Attachment({{0, 1.0}}, 1), constants(FarEnd::fixed), 6007, test_world());
  line.prepare({});
  line.set_up_stages(gauss(2), 0.3);
  const int of_stages = line.implicit_block_limit();
  line.set_up_implicit({0.5, 0.5, 0.5, 0.5}, 1e-3);
  const int of_one = line.implicit_block_limit();
  line.set_up_stages(gauss(2), 0.3);
  EXPECT_NE(of_stages, of_one);
  EXPECT_EQ(line.implicit_block_limit(), of_stages);
}

}  // namespace
}  // namespace bathline
