// Steps with several stages of a piece of a line in cache: against the exact stage system of the piece, and how far
// their influence goes.
#include "model/line/stage_tile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "method_cases.hpp"
#include "model/line/stage_window.hpp"
#include "random_numbers.hpp"
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

struct State {
  std::vector<double> w, p;
};

State random_state(std::int64_t sites) {
  RandomNumbers random(5);
  const auto n = static_cast<std::size_t>(sites);
  State state;
  state.w = random.list(n);
  state.p = random.list(n);
  return state;
}

State advanced(const StageRecursion& recursion, const State& start, int steps) {
  const auto count = static_cast<std::int64_t>(start.w.size());
  LineStageTile tile(recursion, LineStageTile::capacity_for(recursion, count / 4));
  tile.load(start.w.data(), start.p.data(), count);
  tile.advance(steps, {});
  State state = start;
  tile.store(0, count, state.w.data(), state.p.data());
  return state;
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
        const State start = random_state(sites);
        const State found = advanced(*recursion, start, reach.steps);
        LineStageWindow window(step, LineStageWindow::Place::far_end, sites, self_world());
        window.load(start.w.data(), start.p.data(), sites, 0.0);
        for (int i = 0; i < reach.steps; ++i) window.step();
        State expected = start;
        window.store(0, sites, expected.w.data(), expected.p.data());
        // A step rounds numbers of the size of the largest, a long one gathers the errors of h w0 sites, and partial
        // fractions are larger than their sum, ever more with the number of stages.
        double scale = 0.0;
        for (const double w : expected.w) scale = std::max(scale, std::abs(w));
        const double gathered = 1.0 + h * recursion->impedance / line.mass;
        const double tolerance = 4.0 * stages * reach.steps * std::numeric_limits<double>::epsilon() * scale * gathered;
        for (std::int64_t j = reach.sites; j < sites - reach.sites; ++j) {
          const auto i = static_cast<std::size_t>(j);
          ASSERT_NEAR(found.w[i], expected.w[i], tolerance) << j;
          ASSERT_NEAR(found.p[i], expected.p[i], tolerance) << j;
        }
      }
    }
  }
}

// What lies beyond the reach can change no more than the last bit, and the reach is not much too long for that.
TEST(LineStageTile, ReachIsWhereInfluenceEnds) {
  for (const int stages : {2, 3, 4}) {
    for (const double h : steps_in_seconds) {
      SCOPED_TRACE(testing::Message() << stages << " stages, h = " << h);
      const StageRecursion recursion = StageRecursion::of({line, gauss(stages), h}).value();
      const ImplicitReach reach = cheapest_reach(recursion, 512);
      constexpr std::int64_t outer = 20, inner = 101;
      const State start = random_state(2 * outer + 2 * (reach.sites - 1) + inner);
      State other = start;
      for (std::int64_t j = 0; j < outer; ++j) {
        for (const auto i : {static_cast<std::size_t>(j), start.w.size() - 1 - static_cast<std::size_t>(j)}) {
          other.w[i] = 1.0 - other.w[i];
          other.p[i] = -other.p[i];
        }
      }
      const State a = advanced(recursion, start, reach.steps), b = advanced(recursion, other, reach.steps);
      const auto difference = [&](std::int64_t j) {
        const auto i = static_cast<std::size_t>(j);
        return std::abs(a.w[i] - b.w[i]) + std::abs(a.p[i] - b.p[i]) / recursion.impedance;
      };
      const std::int64_t out_of_reach = outer + reach.sites - 1;
      for (std::int64_t j = out_of_reach; j < out_of_reach + inner; ++j) {
        ASSERT_LE(difference(j), 4.0 * std::numeric_limits<double>::epsilon()) << j;
      }
      const std::int64_t within = out_of_reach - (reach.sites + 3) / 4;
      EXPECT_GT(difference(within), 0.0);
    }
  }
}

// A stage matrix without an inverse, one that is all but impossible to diagonalise, and numbers of eigenvalues that no
// sweep is made for.
TEST(LineStageRecursion, IsNoneForOtherSchemes) {
  for (const MethodCase& method : method_cases()) {
    const auto* scheme = std::get_if<CollocationScheme>(&method.scheme);
    if (!scheme) continue;
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
