// The system `linear` of recipes, and mistakes in its matrices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_text.hpp"

namespace bathline::linear_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The keys of [system] begin on line 4.
ReadRecipe read(const std::string& system) {
  return read_recipe("title = \"t\"\n[system]\nkind = \"linear\"\n" + system +
                     "\n[time]\nstep = 0.01\nsteps = 10\n[[integrators]]\nmethod = \"gamma\"\non = \"open\"\n");
}

const std::string start = "q0 = [1.0, -2.0]\nv0 = [0.5, 0.25]\n";
const std::string masses = "M = [2.0, 4.0]\n", stiffness = "K = [[3.0, -1.0], [-1.0, 5.0]]\n";
const std::string damping = "C = [[0.3, -0.1], [-0.1, 0.2]]\n";

TEST(Linear, HasItsMatrices) {
  for (const std::string& m : {masses, std::string("M = [[2.0, 0.0], [0.0, 4.0]]\n")}) {
    const ReadRecipe two = read(m + stiffness + damping + start);
    ASSERT_EQ(two.report(), "");
    const ParticleSystem& system = two.experiment->system();
    EXPECT_EQ(system.particles, 2);
    EXPECT_EQ(system.axes, 1);
    EXPECT_EQ(system.mass, (Eigen::VectorXd{{2.0, 4.0}}));
    EXPECT_EQ(system.q0, (Eigen::VectorXd{{1.0, -2.0}}));
    EXPECT_EQ(system.v0, (Eigen::VectorXd{{0.5, 0.25}}));
    EXPECT_EQ(*system.damping, (Eigen::MatrixXd{{0.3, -0.1}, {-0.1, 0.2}}));
    Eigen::MatrixXd hessian(2, 2);
    system.potential->hessian(system.q0, hessian);
    EXPECT_EQ(hessian, (Eigen::MatrixXd{{3.0, -1.0}, {-1.0, 5.0}}));
    EXPECT_EQ(system.potential->value(system.q0), 0.5 * (3.0 + 4.0 + 20.0));
    EXPECT_TRUE(system.potential->is_quadratic());
  }
  const ReadRecipe diagonal = read(masses + "K = [3.0, -5.0]\nC = [0.3, 0.0]\n" + start);
  ASSERT_EQ(diagonal.report(), "") << "K may be indefinite, C singular";
  EXPECT_EQ(*diagonal.experiment->system().damping, (Eigen::MatrixXd{{0.3, 0.0}, {0.0, 0.0}}));
}

TEST(Linear, DampingMayBeImpliedByLines) {
  const ReadRecipe lines = read(masses + stiffness + start +
                                "[[environments]]\nkind = \"spring-mass-line\"\nattach = 1\nsites = 9\nM = "
                                "4.0\nlambda = 9.0\n");
  ASSERT_EQ(lines.report(), "");
  EXPECT_FALSE(lines.experiment->system().damping);
  EXPECT_EQ(lines.experiment->make_problem(lines.experiment->cases().front()).damping(),
            (Eigen::MatrixXd{{0.0, 0.0}, {0.0, 6.0}}));
  const ReadRecipe alone = read(masses + stiffness + start);
  ASSERT_EQ(alone.report(), "");
  EXPECT_TRUE(alone.experiment->make_problem(alone.experiment->cases().front()).damping().isZero(0.0));
}

TEST(Linear, FindsInvalidMasses) {
  const auto report = [](const std::string& m) { return read(m + "\n" + stiffness + damping + start).report(); };
  EXPECT_THAT(report("M = [[2.0, 0.5], [0.5, 4.0]]"),
              AllOf(HasSubstr("r.toml:4:"), HasSubstr("`M` is not diagonal: M[1][0] = 0.5")));
  EXPECT_THAT(report("M = [[2.0, 0.5], [0.0, 4.0]]"), AllOf(HasSubstr("r.toml:4:"), HasSubstr("`M` is not symmetric")));
  EXPECT_THAT(report("M = [2.0, 0.0]"), AllOf(HasSubstr("r.toml:4:"), HasSubstr("mass of particle 1 is 0")));
  EXPECT_THAT(report("M = [-2.0, 1.0]"), AllOf(HasSubstr("r.toml:4:"), HasSubstr("mass of particle 0 is -2")));
  EXPECT_THAT(report("M = [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0]]"),
              AllOf(HasSubstr("r.toml:4:"), HasSubstr("`M` has the wrong size"), HasSubstr("2 lists of 2 numbers")));
  EXPECT_THAT(report("M = []"), AllOf(HasSubstr("r.toml:4:"), HasSubstr("empty")));
}

TEST(Linear, FindsInvalidMatrices) {
  const auto report = [](const std::string& k, const std::string& c) {
    return read(masses + k + "\n" + c + "\n" + start).report();
  };
  EXPECT_THAT(report("K = [[3.0, -1.0], [1.0, 5.0]]", damping),
              AllOf(HasSubstr("r.toml:5:"), HasSubstr("`K` is not symmetric: K[1][0] = 1 but K[0][1] = -1")));
  EXPECT_THAT(report("K = [3.0]", damping), AllOf(HasSubstr("r.toml:5:"), HasSubstr("`K` has the wrong size")));
  EXPECT_THAT(report("K = [3.0, 1.0]", "C = [[0.1, 0.2], [0.3, 0.1]]"),
              AllOf(HasSubstr("r.toml:6:"), HasSubstr("`C` is not symmetric")));
  EXPECT_THAT(report("K = [3.0, 1.0]", "C = [0.1, -0.25]"),
              AllOf(HasSubstr("r.toml:6:"), HasSubstr("`C` has the eigenvalue -0.25")));
  EXPECT_THAT(report("K = [3.0, 1.0]", "C = [0.1, 0.2, 0.3]"),
              AllOf(HasSubstr("r.toml:6:"), HasSubstr("`C` has the wrong size")));
  EXPECT_THAT(read(masses + stiffness + damping + "q0 = [1.0]\n").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("2 number(s)")));
  EXPECT_THAT(read(stiffness + damping + start).report(), HasSubstr("needs the key `M`"));
}

}  // namespace
}  // namespace bathline::linear_test
