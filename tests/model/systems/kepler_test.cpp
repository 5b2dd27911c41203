// The system `kepler` of recipes, and its observables against closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "recipe_text.hpp"

namespace bathline::kepler_test {
namespace {

std::string recipe(const std::string& start) {
  return "title = \"t\"\n[system]\nkind = \"kepler\"\nM = 2.0\nmu = 3.0\nalpha = 0.1\n" + start +
         "\n[time]\nstep = 0.001\nsteps = 10\n[[integrators]]\nmethod = \"gamma\"\non = \"open\"\n";
}

TEST(Kepler, HasAPlanarParticleDampedOnBothAxes) {
  const ReadRecipe read = read_recipe(recipe("q0 = [[3.0, 4.0]]\nv0 = [[0.5, -0.25]]"));
  ASSERT_EQ(read.report(), "");
  const ParticleSystem& system = read.experiment->system();
  EXPECT_EQ(system.particles, 1);
  EXPECT_EQ(system.axes, 2);
  EXPECT_EQ(system.mass, (Eigen::VectorXd{{2.0, 2.0}}));
  EXPECT_NEAR((*system.damping - 0.2 * Eigen::Matrix2d::Identity()).norm(), 0.0, 1e-16);
  EXPECT_NEAR(system.potential->value(system.q0), -6.0 / 5.0, 1e-15);
  Eigen::VectorXd gradient(2);
  system.potential->gradient(system.q0, gradient);
  EXPECT_NEAR(gradient[0], 6.0 * 3.0 / 125.0, 1e-16);
  EXPECT_NEAR(gradient[1], 6.0 * 4.0 / 125.0, 1e-16);
}

TEST(Kepler, RefusesTheCentreAndWrongSizes) {
  EXPECT_THAT(read_recipe(recipe("q0 = [[0.0, 0.0]]")).report(),
              testing::AllOf(testing::HasSubstr("r.toml:7:"), testing::HasSubstr("centre")));
  EXPECT_THAT(read_recipe(recipe("q0 = [1.0, 0.0]")).report(), testing::HasSubstr("1 list(s) of 2 numbers"));
}

TEST(Kepler, ObservesAngularMomentumAndTheLaplaceRungeLenzVector) {
  const ReadRecipe read = read_recipe(recipe("q0 = [[3.0, 4.0]]"));
  ASSERT_EQ(read.report(), "");
  const ParticleSystem& system = read.experiment->system();
  ASSERT_EQ(system.observables.size(), 2u);
  EXPECT_EQ(system.observables[0].name, "angular_momentum");
  EXPECT_EQ(system.observables[1].name, "laplace_runge_lenz");
  const Eigen::VectorXd q = Eigen::VectorXd{{3.0, 4.0}}, v = Eigen::VectorXd{{-1.0, 0.5}};
  // H = |r x v| = 3 * 0.5 + 4 * 1, turning counterclockwise.
  const double angular = 5.5;
  EXPECT_NEAR(system.observables[0].value(q, v, 0.0)[0], angular, 1e-15);
  EXPECT_NEAR(system.observables[0].value(q, -v, 0.0)[0], angular, 1e-15);

  // Undamped, d/dt (v x z^)/H = -mu (r^ x z^)/(H r^2): value and integral cancel.
  const Observable& vector = system.observables[1];
  Eigen::VectorXd gradient(2);
  system.potential->gradient(q, gradient);
  const double dt = 1e-5;
  const auto flow = [&](double t) -> std::pair<Eigen::VectorXd, Eigen::VectorXd> {
    const Eigen::VectorXd acceleration = -gradient / 2.0;
    return {q + t * v + 0.5 * t * t * acceleration, v + t * acceleration};
  };
  const auto [q_before, v_before] = flow(-dt);
  const auto [q_after, v_after] = flow(dt);
  const Eigen::VectorXd rate =
      (vector.value(q_after, v_after, 0.0) - vector.value(q_before, v_before, 0.0)) / (2.0 * dt);
  EXPECT_LT((rate + vector.integrand(q, v)).norm(), 1e-9);
  EXPECT_GT(rate.norm(), 1e-3);
}

}  // namespace
}  // namespace bathline::kepler_test
