// The adaptive reference solver against closed forms.
#include "solve/reference_integrator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "petsc_world.hpp"

namespace bathline::reference_integrator_test {
namespace {

TEST(ReferenceIntegrator, FollowsAnOscillatorOverManyCallsOfOddLengths) {
  ReferenceIntegrator solver(2, [](double, std::span<const double> x, std::span<double> f) {
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

TEST(ReferenceIntegrator, ClosesAKeplerOrbit) {
  ReferenceIntegrator solver(4, [](double, std::span<const double> x, std::span<double> f) {
    const double r3 = std::pow(std::hypot(x[0], x[1]), 3);
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -x[0] / r3;
    f[3] = -x[1] / r3;
  });
  // Eccentricity 0.6, semi-major axis 1: the period is 2 pi.
  const std::vector<double> start = {0.4, 0.0, 0.0, 2.0};
  std::vector<double> x = start;
  ASSERT_TRUE(solver.advance(x, 0.0, 2.0 * std::numbers::pi));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(x[i], start[i], 2e-10);
}

TEST(ReferenceIntegrator, KnowsTheTimeInEveryCall) {
  // x' = 3 t^2.
  ReferenceIntegrator solver(1, [](double t, std::span<const double>, std::span<double> f) { f[0] = 3.0 * t * t; });
  std::vector<double> x = {0.0};
  double t = 0.0;
  for (const double duration : {0.75, 0.01, 1.24}) {
    ASSERT_TRUE(solver.advance(x, t, duration));
    t += duration;
    EXPECT_NEAR(x[0], t * t * t, 1e-13);
  }
}

TEST(ReferenceIntegrator, FailsWhereTheSolutionEnds) {
  // x' = x^2 from 1 is infinite at t = 1.
  ReferenceIntegrator solver(1, [](double, std::span<const double> x, std::span<double> f) { f[0] = x[0] * x[0]; });
  std::vector<double> x = {1.0};
  EXPECT_FALSE(solver.advance(x, 0.0, 2.0));
}

}  // namespace
}  // namespace bathline::reference_integrator_test
