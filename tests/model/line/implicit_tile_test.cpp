// Implicit steps of a piece of a line in cache: against plain loops, and how far their influence goes.
#include "model/line/implicit_tile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/line/implicit_window.hpp"
#include "random_numbers.hpp"

namespace bathline {
namespace {

constexpr LineConstants line{.mass = 0.7, .stiffness = 1.9, .far_end = FarEnd::free, .dashpot = 0.0};
constexpr OneStageScheme midpoint{0.5, 0.5, 0.5, 0.5};
constexpr double steps_in_seconds[] = {1e-6, 0.02, 0.3, 1.0, 4.0};

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

State advanced(const ImplicitRecursion& recursion, const State& start, int steps) {
  const auto count = static_cast<std::int64_t>(start.w.size());
  LineImplicitTile tile(recursion, LineImplicitTile::capacity_for(recursion, count / 4));
  tile.load(start.w.data(), start.p.data(), count);
  tile.advance(steps, {});
  State state = start;
  tile.store(0, count, state.w.data(), state.p.data());
  return state;
}

TEST(LineImplicitTile, EqualsPlainLoopsInside) {
  for (const double h : steps_in_seconds) {
    const ImplicitRecursion recursion(line, midpoint, h);
    const ImplicitReach reach = cheapest_reach(recursion, 512);
    ASSERT_GT(reach.steps, 0);
    // Few sites, such that parts are padded; numbers that no register divides; as many as fit.
    for (const std::int64_t sites :
         {2 * reach.sites + 1, 2 * reach.sites + 333, LineImplicitTile::capacity_for(recursion, reach.sites)}) {
      SCOPED_TRACE(testing::Message() << "h = " << h << ", " << sites << " sites");
      const State start = random_state(sites);
      const State found = advanced(recursion, start, reach.steps);
      LineImplicitWindow window({line, midpoint, h}, LineImplicitWindow::Place::far_end, sites);
      window.load(start.w.data(), start.p.data(), sites, 0.0);
      for (int step = 0; step < reach.steps; ++step) window.step();
      State expected = start;
      window.store(0, sites, expected.w.data(), expected.p.data());
      // A step rounds numbers of the size of the largest, and a long one gathers the errors of h w0 sites.
      double scale = 0.0;
      for (const double w : expected.w) scale = std::max(scale, std::abs(w));
      const double gathered = 1.0 + h * recursion.impedance / line.mass;
      const double tolerance = 4.0 * reach.steps * std::numeric_limits<double>::epsilon() * scale * gathered;
      for (std::int64_t j = reach.sites; j < sites - reach.sites; ++j) {
        const auto i = static_cast<std::size_t>(j);
        ASSERT_NEAR(found.w[i], expected.w[i], tolerance) << j;
        ASSERT_NEAR(found.p[i], expected.p[i], tolerance) << j;
      }
    }
  }
}

// What lies beyond the reach can change no more than the last bit, and the reach is not much too long for that.
TEST(LineImplicitTile, ReachIsWhereInfluenceEnds) {
  for (const double h : steps_in_seconds) {
    SCOPED_TRACE(testing::Message() << "h = " << h);
    const ImplicitRecursion recursion(line, midpoint, h);
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
    // What is left of the influence can turn a rounding of w and one of p in every step.
    const double lost = reach.steps * std::numeric_limits<double>::epsilon();
    for (std::int64_t j = out_of_reach; j < out_of_reach + inner; ++j) {
      ASSERT_LE(difference(j), lost) << j;
    }
    const std::int64_t within = out_of_reach - (reach.sites + 3) / 4;
    EXPECT_GT(difference(within), 0.0);
  }
}

}  // namespace
}  // namespace bathline
