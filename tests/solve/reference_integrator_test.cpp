// The adaptive reference solver against closed forms.
#include "solve/reference_integrator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace bathline::reference_integrator_test {
namespace {

TEST(ReferenceIntegrator, FollowsAnOscillatorOverManyCallsOfOddLengths) {
  ReferenceIntegrator solver(1, 0, 0, [](double, std::span<const double> x, std::span<double> f) {
    f[0] = x[1];
    f[1] = -9.0 * x[0];
  });
  std::vector<double> x = {1.0, 0.5};
  double t = 0.0;
  for (int call = 0; call < 40; ++call) {
    const double duration = call % 3 == 0 ? 0.01 : 0.37;
    ASSERT_TRUE(solver.advance(x, t, duration));
    t += duration;
    ASSERT_NEAR(x[0], std::cos(3.0 * t) + 0.5 / 3.0 * std::sin(3.0 * t), 1e-11) << "t = " << t;
    ASSERT_NEAR(x[1], -3.0 * std::sin(3.0 * t) + 0.5 * std::cos(3.0 * t), 3e-11) << "t = " << t;
  }
}

/// Kepler's problem in units of length, mass and time that differ from those of the orbit.
ReferenceIntegrator kepler(double length, double mass, double time, double tolerance) {
  const double strength = mass * std::pow(length, 3) / (time * time);
  return ReferenceIntegrator(
      2, 0, 0,
      [=](double, std::span<const double> x, std::span<double> f) {
        const double r3 = std::pow(std::hypot(x[0], x[1]), 3);
        f[0] = x[2] / mass;
        f[1] = x[3] / mass;
        f[2] = -strength * x[0] / r3;
        f[3] = -strength * x[1] / r3;
      },
      tolerance);
}

struct Orbits {
  double eccentricity;
  int periods;
  double length, mass, time, energy_error;
};

class ReferenceOrbits : public testing::TestWithParam<Orbits> {};

// Semi-major axis 1: the period is 2 pi and the energy -1/2.
TEST_P(ReferenceOrbits, KeepTheirEnergyInAnyUnits) {
  const auto& [e, periods, length, mass, time, energy_error] = GetParam();
  ReferenceIntegrator solver = kepler(length, mass, time, 1e-14);
  std::vector<double> x = {(1.0 - e) * length, 0.0, 0.0, std::sqrt((1.0 + e) / (1.0 - e)) * mass * length / time};
  for (int i = 0; i < periods; ++i) ASSERT_TRUE(solver.advance(x, 0.0, 2.0 * std::numbers::pi * time));
  const double v = std::hypot(x[2], x[3]) / (mass * length / time), r = std::hypot(x[0], x[1]) / length;
  EXPECT_NEAR(0.5 * v * v - 1.0 / r, -0.5, energy_error);
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceOrbits,
                         testing::Values(Orbits{0.6, 1, 1.0, 1.0, 1.0, 1e-13}, Orbits{0.9, 100, 1.0, 1.0, 1.0, 1e-11},
                                         Orbits{0.99, 100, 1.0, 1.0, 1.0, 5e-11},
                                         Orbits{0.9, 10, 1e-10, 1e-26, 1e-15, 1e-12},
                                         Orbits{0.9, 10, 1e11, 1e30, 1e7, 1e-12}));

TEST(ReferenceIntegrator, HasItsTolerance) {
  const std::vector<double> start = {0.4, 0.0, 0.0, 2.0};
  double last = 1.0;
  for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
    ReferenceIntegrator solver = kepler(1.0, 1.0, 1.0, tolerance);
    std::vector<double> x = start;
    ASSERT_TRUE(solver.advance(x, 0.0, 2.0 * std::numbers::pi));
    const double error = std::abs(x[1] - start[1]);
    EXPECT_LT(error, 2000.0 * tolerance);
    EXPECT_LT(error, 0.1 * last);
    last = error;
  }
}

// A wall of height 5 and width 0.17 stands 10 in front of a particle of energy 0.5, which is 0.1 in a call.
TEST(ReferenceIntegrator, DoesNotStepOverANarrowForce) {
  ReferenceIntegrator solver(1, 0, 0, [](double, std::span<const double> x, std::span<double> f) {
    f[0] = x[1];
    f[1] = 1000.0 * (x[0] - 10.0) * std::exp(-100.0 * (x[0] - 10.0) * (x[0] - 10.0));
  });
  std::vector<double> x = {0.0, 1.0};
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(solver.advance(x, 0.1 * i, 0.1));
  EXPECT_NEAR(x[1], -1.0, 1e-12);
}

// A force that jumps near the ends of steps: V = -q, or 3 (q - 0.77) - 0.77 behind 0.77.
TEST(ReferenceIntegrator, FindsAJumpOfTheForce) {
  ReferenceIntegrator solver(1, 0, 0, [](double, std::span<const double> x, std::span<double> f) {
    f[0] = x[1];
    f[1] = x[0] > 0.77 ? -3.0 : 1.0;
  });
  std::vector<double> x = {0.0, 1.0};
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(solver.advance(x, 0.1 * i, 0.1));
    const double potential = x[0] > 0.77 ? 3.0 * (x[0] - 0.77) - 0.77 : -x[0];
    ASSERT_NEAR(0.5 * x[1] * x[1] + potential, 0.5, 1e-10) << "call " << i;
  }
}

// V = |q - 1| from q = 1, where the rounding of q changes the force as much as it can.
TEST(ReferenceIntegrator, LeavesAKinkOfThePotential) {
  ReferenceIntegrator solver(1, 0, 0, [](double, std::span<const double> x, std::span<double> f) {
    f[0] = x[1];
    f[1] = x[0] > 1.0 ? -1.0 : x[0] < 1.0 ? 1.0 : 0.0;
  });
  std::vector<double> x = {1.0, 1.0};
  ASSERT_TRUE(solver.advance(x, 0.0, 0.5));
  EXPECT_NEAR(x[0], 1.375, 1e-12);
  EXPECT_NEAR(x[1], 0.5, 1e-12);
}

// A pendulum comes to rest at pi, where the rounding of the angle makes all of the force and all of the motion.
TEST(ReferenceIntegrator, RestsWhereRoundOffIsTheOnlyForce) {
  int evaluations = 0;
  ReferenceIntegrator solver(1, 0, 1, [&](double, std::span<const double> x, std::span<double> f) {
    // Not a number, so that steps which become too short fail instead of going on.
    f[0] = ++evaluations < 1000000 ? x[1] : std::nan("");
    f[1] = std::sin(x[0]) - 0.3 * x[1];
    f[2] = 0.3 * x[1] * x[1];
  });
  std::vector<double> x = {1.0, 0.0, 0.0};
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(solver.advance(x, 0.5 * i, 0.5)) << i;
  EXPECT_NEAR(x[0], std::numbers::pi, 1e-14);
  EXPECT_NEAR(x[2], 1.0 + std::cos(1.0), 1e-13);
  EXPECT_LT(evaluations, 2000 * 100);
}

// Near t = 2 pi both p and the force vanish, so that the rounding of the time is a large part of both; it must not
// shorten the steps. q = 1e-20 (t - sin t) from rest at 0, where there is no scale.
TEST(ReferenceIntegrator, DoesNotResolveTheRoundingOfTime) {
  int evaluations = 0;
  ReferenceIntegrator solver(1, 0, 1, [&](double t, std::span<const double> x, std::span<double> f) {
    ++evaluations;
    f[0] = x[1];
    f[1] = 1e-20 * std::sin(t) - x[0] * x[0] * x[0];
    f[2] = 1e-20 * std::sin(t) * x[1];
  });
  std::vector<double> x = {0.0, 0.0, 0.0};
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(solver.advance(x, 0.1 * i, 0.1));
  EXPECT_NEAR(1e20 * x[0], 10.0 - std::sin(10.0), 1e-13);
  EXPECT_LT(evaluations, 100 * 100);
}

// A chain whose first mass is displaced: what the dashpot at the last one dissipates grows like t^161 from zero, and
// must not be followed by its own digits.
TEST(ReferenceIntegrator, TakesWorksRelativeToTheEnergy) {
  constexpr std::size_t n = 40;
  int evaluations = 0;
  ReferenceIntegrator solver(n, 0, 1, [&](double, std::span<const double> x, std::span<double> f) {
    ++evaluations;
    for (std::size_t i = 0; i < n; ++i) {
      f[i] = x[n + i];
      f[n + i] = (i > 0 ? x[i - 1] : 0.0) - 2.0 * x[i] + (i + 1 < n ? x[i + 1] : 0.0);
    }
    f[2 * n - 1] -= x[2 * n - 1];
    f[2 * n] = x[2 * n - 1] * x[2 * n - 1];
  });
  std::vector<double> x(2 * n + 1, 0.0);
  x[0] = 1.0;
  ASSERT_TRUE(solver.advance(x, 0.0, 60.0));
  EXPECT_LT(evaluations, 40000);
  double energy = x[2 * n] + 0.5 * x[0] * x[0] + 0.5 * x[n - 1] * x[n - 1];
  for (std::size_t i = 0; i < n; ++i) energy += 0.5 * x[n + i] * x[n + i];
  for (std::size_t i = 1; i < n; ++i) energy += 0.5 * (x[i] - x[i - 1]) * (x[i] - x[i - 1]);
  EXPECT_NEAR(energy, 1.0, 1e-12);
  EXPECT_GT(x[2 * n], 0.1);
}

// p' = t^(1/2) from rest has no scale but what the force makes in a call; the work is t^2/3.
TEST(ReferenceIntegrator, StartsFromRestWhereTheForceIsNotSmooth) {
  ReferenceIntegrator solver(1, 0, 1, [](double t, std::span<const double> x, std::span<double> f) {
    f[0] = x[1];
    f[1] = std::sqrt(t);
    f[2] = std::sqrt(t) * x[1];
  });
  std::vector<double> x = {0.0, 0.0, 0.0};
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(solver.advance(x, 0.02 * i, 0.02)) << i;
  EXPECT_NEAR(x[0], 4.0 / 15.0 * std::pow(0.6, 2.5), 1e-12);
  EXPECT_NEAR(x[1], 2.0 / 3.0 * std::pow(0.6, 1.5), 1e-12);
  EXPECT_NEAR(x[2], 2.0 / 9.0 * std::pow(0.6, 3.0), 1e-12);
}

// A slow particle reaches a force that makes 1000 times its momentum in a call.
TEST(ReferenceIntegrator, FindsAJumpThatIsLargeForTheMomentum) {
  ReferenceIntegrator solver(1, 0, 0, [](double, std::span<const double> x, std::span<double> f) {
    f[0] = x[1];
    f[1] = x[0] > 0.0105 ? 1.0 : 0.0;
  });
  std::vector<double> x = {0.0, 1e-3};
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(solver.advance(x, i, 1.0)) << i;
  EXPECT_NEAR(x[0], 0.0105 + 1.5e-3 + 0.5 * 1.5 * 1.5, 1e-9);
  EXPECT_NEAR(x[1], 1e-3 + 1.5, 1e-9);
}

TEST(ReferenceIntegrator, EveryCoordinateHasItsOwnScale) {
  ReferenceIntegrator solver(2, 0, 0, [](double, std::span<const double> x, std::span<double> f) {
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -x[0];
    f[3] = -400.0 * x[1];
  });
  std::vector<double> x = {1e9, 1.0, 0.0, 0.0};
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(solver.advance(x, 0.5 * i, 0.5));
  EXPECT_NEAR(x[0], 1e9 * std::cos(20.0), 1e-3);
  EXPECT_NEAR(x[1], std::cos(400.0), 1e-12);
}

// A resumed run has the same bits.
TEST(ReferenceIntegrator, GoesOnFromItsMemory) {
  const auto run = [](bool is_resumed) {
    const ReferenceIntegrator::RightHandSide pendulum = [](double, std::span<const double> x, std::span<double> f) {
      f[0] = x[1];
      f[1] = -std::sin(x[0]);
    };
    ReferenceIntegrator first(1, 0, 0, pendulum), second(1, 0, 0, pendulum);
    std::vector<double> x = {1.0, 0.0};
    for (int i = 0; i < 7; ++i) EXPECT_TRUE(first.advance(x, 0.7 * i, 0.7));
    second.set_memory(first.memory());
    for (int i = 7; i < 20; ++i) EXPECT_TRUE((is_resumed ? second : first).advance(x, 0.7 * i, 0.7));
    return x;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(ReferenceIntegrator, KnowsTheTimeInEveryCall) {
  // q' = 3 t^2, with a momentum that does not move.
  ReferenceIntegrator solver(1, 0, 0, [](double t, std::span<const double>, std::span<double> f) {
    f[0] = 3.0 * t * t;
    f[1] = 0.0;
  });
  std::vector<double> x = {0.0, 0.0};
  double t = 0.0;
  for (const double duration : {0.75, 0.01, 1.24}) {
    ASSERT_TRUE(solver.advance(x, t, duration));
    t += duration;
    EXPECT_NEAR(x[0], t * t * t, 1e-13);
  }
}

TEST(ReferenceIntegrator, FailsWhereTheSolutionEnds) {
  // q' = q^2 from 1 is infinite at t = 1.
  ReferenceIntegrator solver(1, 0, 0, [](double, std::span<const double> x, std::span<double> f) {
    f[0] = x[0] * x[0];
    f[1] = 0.0;
  });
  std::vector<double> x = {1.0, 0.0};
  EXPECT_FALSE(solver.advance(x, 0.0, 2.0));
}

}  // namespace
}  // namespace bathline::reference_integrator_test
