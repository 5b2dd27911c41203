// The systems `single-oscillator` and `dual-oscillator` of recipes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_text.hpp"

namespace bathline::oscillators_test {
namespace {

std::string recipe(const std::string& system) {
  return "title = \"t\"\n[system]\n" + system +
         "\n[time]\nstep = 0.01\nsteps = 10\n[[integrators]]\nmethod = \"gamma\"\non = \"open\"\n";
}

TEST(Oscillators, SingleOscillatorHasOneDamper) {
  const ReadRecipe read =
      read_recipe(recipe("kind = \"single-oscillator\"\nm = 2.0\nk = 3.0\ndamping = 0.5\nq0 = [1.5]\nv0 = [-0.5]"));
  ASSERT_EQ(read.report(), "");
  const ParticleSystem& system = read.experiment->system();
  EXPECT_EQ(system.size(), 1);
  EXPECT_EQ(system.mass[0], 2.0);
  EXPECT_EQ(system.q0[0], 1.5);
  EXPECT_EQ(system.v0[0], -0.5);
  EXPECT_EQ((*system.damping)(0, 0), 0.5);
  EXPECT_NEAR(system.potential->value(system.q0), 0.5 * 3.0 * 1.5 * 1.5, 1e-15);
}

TEST(Oscillators, DualOscillatorHasADamperBetweenItsParticles) {
  const ReadRecipe read =
      read_recipe(recipe("kind = \"dual-oscillator\"\nm0 = 500.0\nM0 = 200.0\nk0 = 1000.0\nK0 = 1500.0\ndamping = "
                         "7.0\nq0 = [150.0, 0.0]\nv0 = [0.0, 50.0]"));
  ASSERT_EQ(read.report(), "");
  const ParticleSystem& system = read.experiment->system();
  EXPECT_EQ(system.mass, (Eigen::VectorXd{{500.0, 200.0}}));
  EXPECT_EQ(system.q0, (Eigen::VectorXd{{150.0, 0.0}}));
  EXPECT_EQ(system.v0, (Eigen::VectorXd{{0.0, 50.0}}));
  Eigen::VectorXd gradient(2);
  system.potential->gradient(Eigen::VectorXd{{2.0, 3.0}}, gradient);
  EXPECT_EQ(gradient, (Eigen::VectorXd{{2000.0, 4500.0}}));
  // Equal velocities give no force, others opposite forces.
  EXPECT_EQ(system.damping->rowwise().sum().norm(), 0.0);
  EXPECT_EQ((*system.damping)(0, 0), 7.0);
  EXPECT_EQ((*system.damping)(1, 0), -7.0);
}

TEST(Oscillators, StartHasOneEntryPerParticle) {
  const std::string two = "kind = \"dual-oscillator\"\nm0 = 1.0\nM0 = 1.0\nk0 = 1.0\nK0 = 1.0\ndamping = 1.0\n";
  EXPECT_THAT(read_recipe(recipe(two + "q0 = [1.0]")).report(),
              testing::AllOf(testing::HasSubstr("r.toml:9:"), testing::HasSubstr("2 number(s)")));
  EXPECT_THAT(read_recipe(recipe(two + "q0 = [1.0, 2.0]\nv0 = [1.0, 2.0, 3.0]")).report(),
              testing::HasSubstr("r.toml:10:"));
  EXPECT_THAT(read_recipe(recipe(two + "q0 = [[1.0, 2.0], [1.0, 2.0]]")).report(), testing::HasSubstr("r.toml:9:"));
}

}  // namespace
}  // namespace bathline::oscillators_test
