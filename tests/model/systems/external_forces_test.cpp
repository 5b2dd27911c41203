// External forces of recipes, which are forces, drives and fields, against independent integrations; mistakes in them.
#include "model/systems/external_forces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/stepper.hpp"
#include "petsc_world.hpp"
#include "recipe_text.hpp"

namespace bathline::external_forces_test {
namespace {

using testing::HasSubstr;

ReadRecipe read(const std::string& system, const std::string& rest = "") {
  return read_recipe("title = \"t\"\n[system]\n" + system +
                     "\n[time]\nstep = 0.01\nsteps = 10\n[[integrators]]\nmethod = \"exact\"\non = \"closed\"\n" +
                     rest);
}

const std::string duffing =
    "kind = \"formula\"\ncoordinates = [\"x\"]\nmasses = [1.0]\nV = \"x^2/2 + x^4/4\"\nq0 = [0.7]\nv0 = [0.2]\n";
const std::string oscillator = "kind = \"single-oscillator\"\nm = 2.0\nk = 3.0\nq0 = [0.7]\nv0 = [0.2]\n";

/// The problem after `steps` steps of `h` under the integrator of the recipe.
Problem advanced(const ReadRecipe& recipe, double h, int steps) {
  const Case& this_case = recipe.experiment->cases().front();
  Problem problem = recipe.experiment->make_problem(this_case);
  problem.prepare();
  EXPECT_FALSE(make_stepper(this_case.scheme, problem, h)->advance(steps).has_value());
  problem.broadcast_particles();
  return problem;
}

// Position, velocity and work at t = 4 by DOP853 with tolerance 2e-14 and by 4-stage Gauss, which agree to 4e-14.
TEST(ExternalForces, DriveADuffingOscillatorAsAnotherIntegratorDoes) {
  for (const std::string key : {"force = [\"F0*cos(omega*t)\"]", "drive = [\"F0*cos(omega*t)\"]"}) {
    const ReadRecipe recipe = read(duffing + key + "\n[system.parameters]\nF0 = 0.5\nomega = 1.3\n");
    ASSERT_EQ(recipe.report(), "");
    EXPECT_TRUE(recipe.experiment->system().drive);
    EXPECT_FALSE(recipe.experiment->system().applied);
    Problem problem = advanced(recipe, 0.5, 8);
    EXPECT_NEAR(problem.q[0], -0.5285419896842, 1e-12);
    EXPECT_NEAR(problem.p[0], 1.2175137942004, 1e-12);
    EXPECT_NEAR(problem.energies().work, 0.5753332693238, 1e-12);
  }
}

TEST(ExternalForces, AreTheFormulasOfTheRecipe) {
  const ReadRecipe recipe = read(
      "kind = \"formula\"\ncoordinates = [\"x\", \"y\"]\nmasses = [1.0, 2.0]\nV = \"x^2 + y^2\"\nq0 = [0.5, 2.0]\n"
      "force = [\"-c*x_dot*y\", \"x*t + y_dot^2\"]\ndrive = [\"t^2\", \"0\"]\nparameters = { c = 0.25 }\n"
      "observables = { time_of_x = \"x*t\" }");
  ASSERT_EQ(recipe.report(), "");
  const ParticleSystem& system = recipe.experiment->system();
  const Eigen::VectorXd q = Eigen::Vector2d(0.5, 2.0), v = Eigen::Vector2d(3.0, -1.0);
  Eigen::VectorXd force, rate;
  Eigen::MatrixXd by_q, by_v;
  system.applied->value(q, v, 4.0, force);
  EXPECT_EQ(force, Eigen::VectorXd(Eigen::Vector2d(-1.5, 3.0)));
  system.applied->jacobians(q, v, 4.0, by_q, by_v);
  EXPECT_EQ(by_q, Eigen::MatrixXd(Eigen::Matrix2d{{0.0, -0.75}, {4.0, 0.0}}));
  EXPECT_EQ(by_v, Eigen::MatrixXd(Eigen::Matrix2d{{-0.5, 0.0}, {0.0, -2.0}}));
  EXPECT_TRUE(system.applied->depends_on_velocity());
  system.drive->value(3.0, force);
  system.drive->rate(3.0, rate);
  EXPECT_EQ(force, Eigen::VectorXd(Eigen::Vector2d(9.0, 0.0)));
  EXPECT_EQ(rate, Eigen::VectorXd(Eigen::Vector2d(6.0, 0.0)));
  EXPECT_EQ(system.observables.front().value(q, v, 4.0)[0], 2.0);
  EXPECT_EQ(system.formulas,
            "V = x^2 + y^2; force[0] = -c*x_dot*y; force[1] = x*t + y_dot^2; drive[0] = t^2; drive[1] = 0");
}

// x'' = -3 x/2 + sin(t)/2 in closed form.
TEST(ExternalForces, DriveEverySystem) {
  const ReadRecipe recipe = read(oscillator + "drive = [\"a*sin(t)\"]\nparameters = { a = 1 }");
  ASSERT_EQ(recipe.report(), "");
  const Problem problem = advanced(recipe, 0.5, 6);
  const double w = std::sqrt(1.5), t = 3.0;  // the particular solution is sin t
  EXPECT_NEAR(problem.q[0], 0.7 * std::cos(w * t) + (0.2 - 1.0) / w * std::sin(w * t) + std::sin(t), 1e-12);
}

// Two particles on springs to the origin, which the field stretches by m g/k: they oscillate about that position.
TEST(ExternalForces, GravityActsOnEveryMass) {
  const ReadRecipe recipe = read(
      "kind = \"pair-potential\"\nmasses = [1.0, 3.0]\nq0 = [[0.0, 0.0], [2.0, 1.0]]\nv0 = [[1.0, 0.0], [0.0, 2.0]]\n"
      "external = { kind = \"harmonic\", k = 2.0 }\nuniform_field = [0.5, -9.81]\n");
  ASSERT_EQ(recipe.report(), "");
  const Problem problem = advanced(recipe, 0.5, 4);
  const ParticleSystem& system = recipe.experiment->system();
  double energy = 0.0;
  for (int i = 0; i < 4; ++i) {
    const double m = i < 2 ? 1.0 : 3.0, g = i % 2 == 0 ? 0.5 : -9.81, w = std::sqrt(2.0 / m), middle = m * g / 2.0;
    EXPECT_NEAR(problem.q[i],
                middle + (system.q0[i] - middle) * std::cos(2.0 * w) + system.v0[i] / w * std::sin(2.0 * w), 1e-11);
    energy += system.q0[i] * system.q0[i] - m * g * system.q0[i];
  }
  EXPECT_NEAR(system.potential->value(system.q0), energy, 1e-13);
}

TEST(ExternalForces, PointToMistakesInFormulas) {
  const auto report = [](const std::string& system) { return read(system).report(); };
  EXPECT_THAT(report(duffing + "force = [\"-x_dott\"]"),
              HasSubstr("r.toml:9:12: force[0]: unknown name `x_dott`; did you mean `x_dot`?"));
  EXPECT_THAT(report(duffing + "force = [\"1/t\"]"),
              HasSubstr("force[0]: the formula has no finite value at the start"));
  EXPECT_THAT(report(duffing + "force = [\"x\", \"x\"]"), HasSubstr("`force` has 2 formula(s) for 1 coordinates"));
  EXPECT_THAT(report(oscillator + "drive = [\"cos(x)\"]"), HasSubstr("r.toml:8:15: drive[0]: unknown name `x`"));
  EXPECT_THAT(report(oscillator + "drive = []"), HasSubstr("`drive` has 0 formula(s): this system needs 1"));
  EXPECT_THAT(report(oscillator + "uniform_field = [1.0, 2.0]"), HasSubstr("2 numbers: this system has 1 axes"));
  EXPECT_THAT(report("kind = \"formula\"\ncoordinates = [\"x\"]\nmasses = [1.0]\nV = \"x^2*t\"\nq0 = [0.7]"),
              HasSubstr("V depends on the time `t`"));
  EXPECT_THAT(report("kind = \"formula\"\ncoordinates = [\"t\"]\nmasses = [1.0]\nV = \"t^2\"\nq0 = [0.7]"),
              HasSubstr("`t` already has a meaning"));
}

TEST(ExternalForces, AreRefusedByStudiesOfUnforcedSystems) {
  for (const std::string kind : {"energy-transfer", "commutativity", "substituting-system", "contact-form"}) {
    const ReadRecipe recipe =
        read(oscillator + "damping = 0.1\ndrive = [\"cos(t)\"]", "[study]\nkind = \"" + kind + "\"\n");
    Mistakes mistakes;
    completes(
        [&] { test_program().catalogues().studies.find(kind)->make(*recipe.recipe, *recipe.experiment, mistakes); });
    EXPECT_THAT(mistakes.report(), HasSubstr("drive: a study of the kind `" + kind + "`"));
  }
}

}  // namespace
}  // namespace bathline::external_forces_test
