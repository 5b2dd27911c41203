// The system `contact` of recipes, and mistakes in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/stepper.hpp"
#include "petsc_world.hpp"
#include "recipe_text.hpp"

namespace bathline::contact_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string herglotz = "[[integrators]]\nmethod = \"herglotz\"\non = \"open\"\n";

/// The keys of [system] begin on line 4.
ReadRecipe read(const std::string& system, const std::string& methods = herglotz, const std::string& step = "0.5") {
  return read_recipe("title = \"t\"\n[system]\nkind = \"contact\"\n" + system + "\n[time]\nstep = " + step +
                     "\nsteps = 10\n" + methods);
}

TEST(Contact, HasTheDamperThatGammaStandsFor) {
  const ReadRecipe oscillator = read(
      "potential = \"harmonic\"\ngamma = -0.25\nq0 = [1.5]\nv0 = [-0.5]\nz0 = 0.75\nexternal = { kind = "
      "\"quartic\", k = 2.0, beta = 4.0 }");
  ASSERT_EQ(oscillator.report(), "");
  const ParticleSystem& system = oscillator.experiment->system();
  EXPECT_EQ(system.mass, Eigen::VectorXd::Ones(1));
  EXPECT_EQ(system.q0[0], 1.5);
  EXPECT_EQ(system.v0[0], -0.5);
  EXPECT_EQ((*system.damping)(0, 0), 0.25);
  EXPECT_EQ(system.contact->gamma, -0.25);
  EXPECT_EQ(system.contact->z0, 0.75);
  EXPECT_FALSE(system.contact->q1);
  // (1 + 2) q^2 / 2 + q^4.
  EXPECT_EQ(system.potential->value(system.q0), 1.5 * 2.25 + 2.25 * 2.25);
  const Problem problem = oscillator.experiment->make_problem(oscillator.experiment->cases().front());
  EXPECT_EQ(problem.z, 0.75);
  EXPECT_EQ(problem.p[0], -0.5);
}

TEST(Contact, IsFreeAndAtRestByDefault) {
  const ReadRecipe plane = read("gamma = -0.25\nq0 = [[1.0, 2.0]]\nq1 = [[1.25, 2.5]]");
  ASSERT_EQ(plane.report(), "");
  const ParticleSystem& system = plane.experiment->system();
  EXPECT_EQ(system.axes, 2);
  EXPECT_EQ(system.potential->value(system.q0), 0.0);
  EXPECT_TRUE(system.potential->is_quadratic());
  EXPECT_EQ(system.contact->z0, 0.0);
  ASSERT_TRUE(system.contact->q1);
  EXPECT_EQ(*system.contact->q1, (Eigen::VectorXd{{1.25, 2.5}}));
  EXPECT_EQ(system.v0.norm(), 0.0);
  EXPECT_EQ(*system.damping, 0.25 * Eigen::MatrixXd::Identity(2, 2));
  ASSERT_EQ(system.observables.size(), 1u);
  EXPECT_EQ(system.observables[0].value(system.q0, Eigen::VectorXd{{3.0, -1.0}}, 0.0)[0], -1.0 - 6.0);
}

TEST(Contact, SupportsGammaOfEitherSign) {
  for (const double gamma : {0.0, 0.05}) {
    const ReadRecipe growing = read("gamma = " + std::to_string(gamma) + "\nq0 = [1.0]\nv0 = [0.5]");
    ASSERT_EQ(growing.report(), "");
    EXPECT_EQ((*growing.experiment->system().damping)(0, 0), -gamma);
  }
  EXPECT_THAT(read("q0 = [1.0]").report(), HasSubstr("needs the key `gamma`"));
}

TEST(Contact, FindsSingularAndUnstableSteps) {
  const std::string free = "gamma = -0.25\nq0 = [1.0]\n";
  EXPECT_THAT(read(free, herglotz, "4.0").report(), AllOf(HasSubstr("r.toml:8:"), HasSubstr("1 + h gamma = 0")));
  EXPECT_THAT(read(free, herglotz + "step = 4.0\n").report(),
              AllOf(HasSubstr("r.toml:13:"), HasSubstr("1 + h gamma = 0")));
  EXPECT_EQ(read(free, herglotz, "3.9").report(), "");
  // The exact factor e^{gamma h} never vanishes; a free particle decays while |1 + h gamma| < 1.
  EXPECT_EQ(read(free, herglotz + "lagrangian = \"exact\"\n", "4.0").report(), "");
  EXPECT_EQ(read(free, herglotz, "7.9").report(), "");
  EXPECT_THAT(read(free, herglotz, "8.1").report(),
              AllOf(HasSubstr("r.toml:8:"), HasSubstr("beyond the stability limit 8 of herglotz")));
}

TEST(Contact, FindsMissingExactLagrangians) {
  const std::string exact = herglotz + "lagrangian = \"exact\"\n";
  EXPECT_THAT(read("gamma = -0.25\nq0 = [1.0]\nexternal = { kind = \"quartic\", k = 2.0, beta = 4.0 }", exact).report(),
              AllOf(HasSubstr("r.toml:13:"), HasSubstr("free particles and harmonic oscillators only")));
  // Half a period with w^2 = 1 - 1/4 gamma^2 = 3/4 for gamma = -1.
  const std::string step = "3.627598728468435";  // pi / sqrt(3/4)
  EXPECT_THAT(read("potential = \"harmonic\"\ngamma = -1.0\nq0 = [1.0]", exact, step).report(),
              AllOf(HasSubstr("r.toml:8:"), HasSubstr("half the period")));
  EXPECT_EQ(read("potential = \"harmonic\"\ngamma = -1.0\nq0 = [1.0]", exact, "3.5").report(), "");
}

TEST(Contact, FindsUnsupportedMethods) {
  const std::string free = "gamma = -0.25\nq0 = [1.0]\n";
  EXPECT_THAT(read(free, "[[integrators]]\nmethod = \"stoermer-verlet\"\non = \"open\"\n").report(),
              AllOf(HasSubstr("r.toml:11:"), HasSubstr("`stoermer-verlet` splits kinetic and potential energy"),
                    HasSubstr("advance the action z"), HasSubstr("herglotz")));
  for (const std::string name : {"gauss", "lobatto", "gamma", "rk4", "implicit-euler"}) {
    const std::string method = "[[integrators]]\nmethod = \"" + name + "\"\non = \"open\"\n";
    EXPECT_EQ(read(free, method).report(), "");
    EXPECT_THAT(read("gamma = 0.25\nq0 = [1.0]\nq1 = [1.5]\n", method).report(),
                AllOf(HasSubstr("r.toml:6:"), HasSubstr("`" + name + "` needs `v0`")));
  }
  EXPECT_EQ(read(free, "[[integrators]]\nmethod = \"exact\"\non = \"open\"\n").report(), "");
  // An open system is one of contact mechanics if all of its momenta decay at the same rate.
  const auto damped = [](const std::string& damping, const std::string& on = "open") {
    std::string text =
        "title = \"t\"\n[system]\nkind = \"pair-potential\"\nmasses = [1.0, 2.0]\nexternal = { kind = "
        "\"harmonic\", k = 1.0 }\ndamping = " +
        damping +
        "\nq0 = [1.0, 2.0]\n[[environments]]\nkind = "
        "\"spring-mass-line\"\nsites = 9\nM = 4.0\nlambda = 9.0\n[time]\nstep = 0.1\nsteps = 5\n" +
        herglotz;
    text.replace(text.rfind("\"open\""), 6, '"' + on + '"');
    return read_recipe(text).report();
  };
  EXPECT_EQ(damped("[0.1, 0.2]"), "");
  EXPECT_THAT(damped("[0.1, 0.1]"), AllOf(HasSubstr("r.toml:17:"), HasSubstr("C = -gamma M")));
  EXPECT_THAT(damped("[0.1, 0.2]", "closed"), AllOf(HasSubstr("r.toml:18:"), HasSubstr("C = -gamma M")));
  const std::string line =
      "[[environments]]\nkind = \"spring-mass-line\"\nattach = 0\nsites = 9\nM = 4.0\nlambda = 9.0\n";
  EXPECT_THAT(read(free + line).report(), AllOf(HasSubstr("r.toml:7:"), HasSubstr("without environments")));
}

// With a drive every method integrates the system as a Lagrangian one: x'' = -x + gamma x' + cos(2t)/2.
TEST(Contact, IsDrivenUnderAllItsMethods) {
  const std::string driven =
      "potential = \"harmonic\"\ngamma = -0.5\nq0 = [1.0]\nv0 = [0.3]\ndrive = [\"0.5*cos(2*t)\"]\n";
  // 2 cos(2t) and sin(2t) balance: A (1 - 4) + 2 B 0.5 = 0.5, B (1 - 4) - 2 A 0.5 = 0.
  const double A = -0.15, B = 0.05, w = std::sqrt(1.0 - 0.0625), t = 2.0;
  const double c = 1.0 - A, d = (0.3 - 2.0 * B + 0.25 * c) / w;
  const double x =
      A * std::cos(2 * t) + B * std::sin(2 * t) + std::exp(-0.25 * t) * (c * std::cos(w * t) + d * std::sin(w * t));
  for (const auto& [method, tolerance] :
       {std::pair("exact", 1e-11), std::pair("gauss", 1e-7), std::pair("rk4", 1e-6), std::pair("herglotz", 3e-2)}) {
    const ReadRecipe recipe =
        read(driven, std::string("[[integrators]]\nmethod = \"") + method + "\"\non = \"open\"\n", "0.05");
    ASSERT_EQ(recipe.report(), "");
    const Case& this_case = recipe.experiment->cases().front();
    Problem problem = recipe.experiment->make_problem(this_case);
    const double before = problem.energies().total();
    ASSERT_FALSE(make_stepper(this_case.scheme, problem, 0.05)->advance(40));
    problem.broadcast_particles();
    EXPECT_NEAR(problem.q[0], x, tolerance) << method;
    EXPECT_NEAR(problem.energies().total(), before, 10.0 * tolerance) << method;
  }
  EXPECT_THAT(read(driven + "q1 = [1.1]\n").report(), HasSubstr("one of them"));
}

TEST(Contact, FindsWrongStarts) {
  EXPECT_THAT(read("gamma = -0.25\nq0 = [1.0]\nq1 = [1.0, 2.0]").report(),
              AllOf(HasSubstr("r.toml:6:"), HasSubstr("`q1` has the wrong size")));
  EXPECT_THAT(read("gamma = -0.25\nq0 = [1.0]\nq1 = [1.0]\nv0 = [2.0]").report(),
              AllOf(HasSubstr("r.toml:6:"), HasSubstr("one of them")));
  EXPECT_THAT(read("gamma = -0.25\nq0 = [1.0, 2.0]").report(), AllOf(HasSubstr("r.toml:5:"), HasSubstr("1 number(s)")));
  EXPECT_THAT(read("gamma = -0.25\nq0 = [[1.0, 2.0, 3.0, 4.0]]").report(),
              AllOf(HasSubstr("r.toml:5:"), HasSubstr("at most 3 axes")));
  EXPECT_THAT(
      read("gamma = -0.25\nq0 = [0.0]\nexternal = { kind = \"lennard-jones\", epsilon = 1.0, sigma = 1.0 }").report(),
      AllOf(HasSubstr("r.toml:5:"), HasSubstr("not finite")));
  EXPECT_THAT(read("potential = \"harmonc\"\ngamma = -0.25\nq0 = [0.0]").report(),
              AllOf(HasSubstr("r.toml:4:"), HasSubstr("did you mean \"harmonic\"?")));
}

}  // namespace
}  // namespace bathline::contact_test
