// Schemes as data: how far they reach and what they are made of.
#include "methods/scheme.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "explicit_schemes.hpp"
#include "methods/catalogue.hpp"
#include "model/line/line.hpp"
#include "serial_line.hpp"

namespace bathline::scheme_test {
namespace {

using Kind = Substep::Kind;

TEST(Scheme, ReachCountsForcesAtNewPositions) {
  const ExplicitScheme leapfrog = splitting({{Kind::drift, 1.0}, {Kind::kick, 1.0}});
  EXPECT_EQ(leapfrog.reach(0), 0);
  EXPECT_EQ(leapfrog.reach(1), 1);
  EXPECT_EQ(leapfrog.reach(64), 64);
  // Two half kicks between drifts see the same positions.
  const ExplicitScheme verlet = splitting({{Kind::kick, 0.5, true}, {Kind::drift, 1.0}, {Kind::kick, 0.5}});
  EXPECT_EQ(verlet.reach(1), 2);
  EXPECT_EQ(verlet.reach(10), 11);
  // Every stage sees the forces and the velocities of the one before, so that two of them go one site further.
  const ExplicitScheme midpoint = runge_kutta({{}, {0.5}}, {0.0, 1.0});
  EXPECT_EQ(midpoint.reach(3), 3);
  EXPECT_EQ(std::get<ExplicitScheme>(rk4_method().scheme(Section())).reach(8), 16);
}

// A disturbance in one place of a long line travels no farther than the scheme says, and does go that far.
TEST(Scheme, ReachIsHowFarADisturbanceTravels) {
  for (const NamedScheme& named : explicit_schemes()) {
    for (const int steps : {1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << named.name << ", " << steps << " steps");
      const auto centre = static_cast<std::size_t>(named.scheme.reach(steps) + 2);
      std::vector<double> w(2 * centre + 1, 0.0), p(2 * centre + 1, 0.0);
      w[centre] = 1.0;
      p[centre] = 0.3;
      SerialLine line({.mass = 1.0, .stiffness = 1.0}, 0.0, w, p);
      for (int step = 0; step < steps; ++step) {
        for (const Substep& substep : named.scheme.substeps) line.substep(substep, named.scheme, 3.0, 0.0);
      }
      std::size_t farthest = 0;
      for (std::size_t j = centre; j < w.size(); ++j) {
        if (line.w[j] != 0.0 || line.p[j] != 0.0) farthest = j - centre;
      }
      EXPECT_EQ(static_cast<int>(farthest), named.scheme.reach(steps));
    }
  }
}

// Their reach does not grow, and a block of steps must end nevertheless.
TEST(Scheme, KicksOrDriftsAloneHaveFiniteBlocks) {
  for (const ExplicitScheme& scheme :
       {splitting({{Kind::kick, 1.0}}), splitting({{Kind::drift, 1.0}}), splitting({})}) {
    EXPECT_EQ(scheme.steps_within(100), 200);
    EXPECT_EQ(scheme.steps_within(0), 1);
  }
  for (const NamedScheme& named : explicit_schemes()) {
    const int steps = named.scheme.steps_within(100);
    EXPECT_LE(named.scheme.reach(steps), 100) << named.name;
    EXPECT_GT(named.scheme.reach(steps + 1), 100) << named.name;
  }
}

TEST(Scheme, MergedIsOneKickWhereThereAreSeveralAtTheSamePlace) {
  const ExplicitScheme merged =
      splitting(
          {{Kind::kick, 0.25, true}, {Kind::kick, 0.5}, {Kind::drift, 0.5}, {Kind::drift, 0.5}, {Kind::kick, 0.25}})
          .merged();
  EXPECT_EQ(merged, splitting({{Kind::kick, 0.75}, {Kind::drift, 1.0}, {Kind::kick, 0.25}}));
  const auto rk4 = std::get<ExplicitScheme>(rk4_method().scheme(Section()));
  EXPECT_EQ(rk4.merged(), rk4);
  for (const NamedScheme& named : explicit_schemes()) EXPECT_EQ(named.scheme.merged().reach(3), named.scheme.reach(3));
}

TEST(Scheme, NoneReachesFartherInAStepThanARankHoldsSites) {
  for (const NamedScheme& named : explicit_schemes())
    EXPECT_LE(named.scheme.reach(1), LineState::min_sites_per_rank) << named.name;
}

TEST(Scheme, RungeKuttaHasAStagePerWeightInOrder) {
  const ExplicitScheme scheme = runge_kutta({{}, {0.5}, {-1.0, 2.0}}, {0.25, 0.5, 0.25});
  ASSERT_EQ(scheme.substeps.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(scheme.substeps[static_cast<std::size_t>(i)].kind, Kind::stage);
    EXPECT_EQ(scheme.substeps[static_cast<std::size_t>(i)].stage, i);
  }
}

TEST(Scheme, EveryExplicitMethodIsConsistent) {
  for (const NamedScheme& named : explicit_schemes()) {
    SCOPED_TRACE(named.name);
    if (!named.is_splitting()) {
      EXPECT_NEAR(std::accumulate(named.scheme.b.begin(), named.scheme.b.end(), 0.0), 1.0, 1e-15);
      ASSERT_EQ(named.scheme.a.size(), named.scheme.b.size());
      for (std::size_t i = 0; i < named.scheme.a.size(); ++i) EXPECT_EQ(named.scheme.a[i].size(), i);
      continue;
    }
    double drift = 0.0, kick = 0.0;
    for (const Substep& substep : named.scheme.substeps) (substep.kind == Kind::drift ? drift : kick) += substep.weight;
    EXPECT_NEAR(drift, 1.0, 2e-15);
    EXPECT_NEAR(kick, 1.0, 2e-15);
  }
}

}  // namespace
}  // namespace bathline::scheme_test
