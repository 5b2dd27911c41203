// Steps with several stages of a piece of a line in cache: against the exact stage system of the piece, and how far
// their influence goes.
#include "model/line/implicit/stage_tile.hpp"

#include <gtest/gtest.h>

#include "method_cases.hpp"
#include "model/line/implicit/stage_window.hpp"
#include "piece.hpp"
#include "self_world.hpp"

namespace bathline {
namespace {

constexpr LineConstants line{.mass = 0.7, .stiffness = 1.9, .far_end = FarEnd::free, .dashpot = 0.0};
constexpr double steps_in_seconds[] = {1e-6, 0.02, 0.3, 1.0, 4.0};

CollocationScheme gauss(int stages) {
  return std::get<CollocationScheme>(method_case("gauss(stages=" + std::to_string(stages) + ")").scheme);
}

/// Two stages, eigenvalues that are real and differ.
CollocationScheme two_reals() {
  const Eigen::MatrixXd a{{0.4, 0.0}, {0.3, 0.7}};
  return {.a = a, .a_hat = a, .b = Eigen::VectorXd{{0.6, 0.4}}};
}

TEST(LineStageTile, EqualsTheStageSystemInside) {
  for (const int stages : {1, 2, 3, 4}) {
    for (const double h : steps_in_seconds) {
      const LineStageStep step{line, gauss(stages), h};
      const std::optional<StageRecursion> recursion = StageRecursion::of(step);
      ASSERT_TRUE(recursion);
      const ImplicitReach reach = cheapest_reach(*recursion, 512);
      ASSERT_GT(reach.steps, 0);
      // Few sites, such that parts are padded; numbers that no register divides; as many as fit.
      for (const std::int64_t sites :
           {2 * reach.sites + 1, 2 * reach.sites + 333, LineStageTile::capacity_for(*recursion, reach.sites)}) {
        SCOPED_TRACE(testing::Message() << stages << " stages, h = " << h << ", " << sites << " sites");
        expect_tile_to_equal<LineStageTile>(LineStageWindow(step, LineStageWindow::Place::far_end, sites, self_world()),
                                            *recursion, reach, sites, h * recursion->impedance / line.mass, stages);
      }
    }
  }
}

TEST(LineStageTile, ReachIsWhereInfluenceEnds) {
  for (const int stages : {2, 3, 4}) {
    for (const double h : steps_in_seconds) {
      SCOPED_TRACE(testing::Message() << stages << " stages, h = " << h);
      const StageRecursion recursion = StageRecursion::of({line, gauss(stages), h}).value();
      expect_influence_to_end_at<LineStageTile>(cheapest_reach(recursion, 512), recursion, stages);
    }
  }
}

// A stage matrix without an inverse, one that is all but impossible to diagonalise, and numbers of eigenvalues that no
// sweep is made for.
TEST(LineStageRecursion, IsNoneForOtherSchemes) {
  for (const MethodCase& method : method_cases()) {
    const auto* scheme = std::get_if<CollocationScheme>(&method.scheme);
    if (scheme == nullptr || scheme->stages() == 1) continue;  // implicit_recursion.hpp serves those
    EXPECT_EQ(StageRecursion::of({line, *scheme, 0.3}).has_value(), method.method->entry.name == "gauss")
        << method.name;
  }
  EXPECT_FALSE(StageRecursion::of({line, two_reals(), 0.3}));
  CollocationScheme parallel = two_reals();
  parallel.a = parallel.a_hat = Eigen::MatrixXd{{0.4, 0.1}, {-1e-9, 0.4}};
  EXPECT_FALSE(StageRecursion::of({line, parallel, 0.3}));
  parallel.a(1, 0) = parallel.a_hat(1, 0) = -0.1;
  EXPECT_TRUE(StageRecursion::of({line, parallel, 0.3}));
}

}  // namespace
}  // namespace bathline
