// The systems `pair-potential` and `binary-oscillator` of recipes, damping matrices, and mistakes in them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "random_numbers.hpp"
#include "differences.hpp"
#include "recipe_text.hpp"

namespace bathline::pair_potential_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The keys of [system] begin on line 4.
std::string recipe(const std::string& system) {
  return "title = \"t\"\n[system]\nkind = \"pair-potential\"\n" + system +
         "\n[time]\nstep = 0.01\nsteps = 10\n[[integrators]]\nmethod = \"gamma\"\non = \"open\"\n";
}

const std::string harmonic = "potential = { kind = \"harmonic\", k = 2.0 }\n";
const std::string chain = "masses = [1.0, 2.0, 3.0]\n" + harmonic + "q0 = [0.0, 1.0, 3.0]\n";

ReadRecipe read(const std::string& system) { return read_recipe(recipe(system)); }

double energy(const ReadRecipe& read) {
  return read.experiment->system().potential->value(read.experiment->system().q0);
}

TEST(PairPotential, ActsBetweenEveryTwoOrTheNamedPairs) {
  const ReadRecipe all = read(chain + "damping = [0.1, 0.2, 0.3]");
  ASSERT_EQ(all.report(), "");
  EXPECT_EQ(all.experiment->system().mass, (Eigen::VectorXd{{1.0, 2.0, 3.0}}));
  EXPECT_EQ(energy(all), 1.0 + 4.0 + 9.0);
  EXPECT_TRUE(all.experiment->system().potential->is_quadratic());
  const ReadRecipe neighbours = read(chain + "damping = [0.1, 0.2, 0.3]\npairs = [[0, 1], [2, 1]]");
  ASSERT_EQ(neighbours.report(), "");
  EXPECT_EQ(energy(neighbours), 1.0 + 4.0);
}

TEST(PairPotential, SeparationsHaveASignOnOneAxisOnly) {
  // At rest with s = +1: the later particle is to the right, in whichever order a pair is listed.
  const std::string spring = "masses = [1.0, 1.0]\npotential = { kind = \"harmonic\", k = 2.0, rest_length = 1.0 }\n";
  for (const std::string pairs : {"", "pairs = [[0, 1]]\n", "pairs = [[1, 0]]\n"}) {
    const ReadRecipe right = read(spring + pairs + "damping = [0.0, 0.0]\nq0 = [2.0, 3.0]");
    ASSERT_EQ(right.report(), "");
    EXPECT_EQ(energy(right), 0.0);
    EXPECT_FALSE(right.experiment->system().potential->is_quadratic());
    EXPECT_EQ(energy(read(spring + pairs + "damping = [0.0, 0.0]\nq0 = [3.0, 2.0]")), 4.0);
    EXPECT_EQ(energy(read(spring + pairs + "damping = [0.0, 0.0]\nq0 = [[3.0, 0.0], [2.0, 0.0]]")), 0.0);
  }
}

TEST(PairPotential, ExternalActsTowardsTheOrigin) {
  const ReadRecipe duffing =
      read("masses = [2.0]\nexternal = { kind = \"quartic\", k = -1.0, beta = 1.0 }\ndamping = [0.3]\nq0 = [-2.0]");
  ASSERT_EQ(duffing.report(), "");
  EXPECT_EQ(energy(duffing), -2.0 + 4.0);
  const ReadRecipe spatial = read(
      "masses = [2.0, 1.0]\nexternal = { kind = \"harmonic\", k = 2.0 }\ndamping = [0.3, 0.1]\n"
      "q0 = [[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]]");
  ASSERT_EQ(spatial.report(), "");
  const ParticleSystem& system = spatial.experiment->system();
  EXPECT_EQ(system.axes, 3);
  EXPECT_EQ(system.mass, (Eigen::VectorXd{{2.0, 2.0, 2.0, 1.0, 1.0, 1.0}}));
  EXPECT_EQ(energy(spatial), 9.0);
  EXPECT_TRUE(system.potential->is_quadratic());
}

// The sparse matrix of a chain stores the diagonal and its neighbours only. It equals the dense one, also with external
// potentials, several axes and formulas.
TEST(PairPotential, SparseHessianIsTheDenseOne) {
  const std::string fput = "potential = { kind = \"fput\", k = 2.0, alpha = 0.5 }\n", unit_masses = "masses = 1.0\n";
  const std::string line = unit_masses + "particles = 40\nq0 = \"0.1*sin(i^2)\"\n" + fput;
  const std::string plane = unit_masses + "particles = 6\nq0 = [\"i\", \"sin(i)\"]\n" + harmonic;
  for (const auto& [text, entries] : std::vector<std::pair<std::string, int>>{
           {line + "pairs = \"neighbours\"", 40 + 2 * 39},
           {line + "pairs = \"neighbours\"\nends = \"fixed\"", 40 + 2 * 39},
           {line + "pairs = \"ring\"", 40 + 2 * 40},
           {line + "pairs = \"ring\"\nexternal = { kind = \"formula\", V = \"x^4\" }", 40 + 2 * 40},
           {line, 40 * 40},
           {plane + "pairs = \"neighbours\"\nexternal = { kind = \"formula\", V = \"x^2*y^2\" }", 4 * (6 + 2 * 5)},
           {unit_masses + "particles = 3\nq0 = \"i\"\nexternal = { kind = \"formula\", V = \"x^4\" }", 3}}) {
    const ReadRecipe chain_of = read(text);
    ASSERT_EQ(chain_of.report(), "") << text;
    const ParticleSystem& system = chain_of.experiment->system();
    Eigen::MatrixXd dense;
    Eigen::SparseMatrix<double> sparse;
    system.potential->hessian(system.q0, dense);
    system.potential->sparse_hessian(system.q0, sparse);
    EXPECT_EQ(sparse.nonZeros(), entries) << text;
    EXPECT_EQ(Eigen::MatrixXd(sparse), dense) << text;
  }
}

TEST(PairPotential, RecordsFormulasOfItsCoordinates) {
  const std::string two = "masses = [1.0, 2.0]\n" + harmonic;
  const ReadRecipe line = read(two + "q0 = [0.5, 3.0]\nv0 = [2.0, -1.0]\nobservables = { a = \"x1*x0_dot - x1_dot\" }");
  const ReadRecipe plane = read(two +
                                "q0 = [[0.5, 1.0], [3.0, 7.0]]\nv0 = [[2.0, 0.0], [0.0, -1.0]]\n"
                                "observables = { a = \"y1*x0_dot - y1_dot\" }");
  for (const auto& [system_recipe, expected] :
       {std::pair(&line, 3.0 * 2.0 + 1.0), std::pair(&plane, 7.0 * 2.0 + 1.0)}) {
    ASSERT_EQ(system_recipe->report(), "");
    const ParticleSystem& system = system_recipe->experiment->system();
    ASSERT_EQ(system.observables.size(), 1u);
    EXPECT_EQ(system.observables[0].value(system.q0, system.v0, 0.0)[0], expected);
  }
  EXPECT_THAT(read(two + "q0 = [0.5, 3.0]\nobservables = { a = \"x2\" }").report(), HasSubstr("unknown name `x2`"));
}

TEST(PairPotential, DampingIsOneConstantPerParticleOrAMatrixOnEveryAxis) {
  const ReadRecipe diagonal = read(chain + "damping = [0.1, 0.2, 0.3]");
  ASSERT_EQ(diagonal.report(), "");
  EXPECT_EQ(*diagonal.experiment->system().damping, Eigen::MatrixXd(Eigen::Vector3d(0.1, 0.2, 0.3).asDiagonal()));
  const ReadRecipe full =
      read("masses = [1.0, 2.0]\n" + harmonic + "q0 = [[0.0, 1.0], [1.0, 0.0]]\ndamping = [[2.0, -1.0], [-1.0, 0.5]]");
  ASSERT_EQ(full.report(), "");
  EXPECT_EQ(
      *full.experiment->system().damping,
      (Eigen::MatrixXd{{2.0, 0.0, -1.0, 0.0}, {0.0, 2.0, 0.0, -1.0}, {-1.0, 0.0, 0.5, 0.0}, {0.0, -1.0, 0.0, 0.5}}));
  // The matrix of dashpots between particles is singular, which must not be refused because of round-off.
  RandomNumbers random(17);
  for (int i = 0; i < 50; ++i) {
    const double x = random.uniform(0.1, 1.0), y = random.uniform(0.1, 1.0);
    const std::string dashpots =
        fmt::format("damping = [[{0}, -{0}, 0.0], [-{0}, {1}, -{2}], [0.0, -{2}, {2}]]", x, x + y, y);
    EXPECT_EQ(read(chain + dashpots).report(), "") << dashpots;
  }
}

TEST(PairPotential, FindsInvalidDamping) {
  EXPECT_THAT(read(chain + "damping = [0.1, 0.2]").report(), AllOf(HasSubstr("r.toml:7:"), HasSubstr("3 number(s)")));
  EXPECT_THAT(read(chain + "damping = [[0.1, 0.2], [0.2, 0.1], [0.0, 0.0]]").report(), HasSubstr("r.toml:7:"));
  EXPECT_THAT(read(chain + "damping = [0.1, -0.25, 0.3]").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("eigenvalue -0.25")));
  EXPECT_THAT(read(chain + "damping = [[1, 2, 0], [2, 1, 0], [0, 0, 0]]").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("eigenvalue -1,")));
  EXPECT_THAT(read(chain + "damping = [[1, 0.5, 0], [0.25, 1, 0], [0, 0, 0]]").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("damping[1][0] = 0.25 but damping[0][1] = 0.5")));
}

TEST(PairPotential, FindsWrongPairs) {
  for (const auto& [pairs, reason] :
       std::vector<std::pair<std::string, std::string>>{{"[[0, 3]]", "does not exist"},
                                                        {"[[0, 0.5]]", "does not exist"},
                                                        {"[[-1, 0]]", "does not exist"},
                                                        {"[[1, 1]]", "same particle twice"},
                                                        {"[[0, 1], [1, 0]]", "listed twice"},
                                                        {"[[0, 1, 2]]", "not a pair"},
                                                        {"[0, 1]", "not a pair"}}) {
    EXPECT_THAT(read(chain + "damping = [0.0, 0.0, 0.0]\npairs = " + pairs).report(),
                AllOf(HasSubstr("r.toml:8:"), HasSubstr(reason)))
        << pairs;
  }
}

TEST(PairPotential, FindsContradictoryKeys) {
  const std::string quiet = "damping = [0.0]\n";
  EXPECT_THAT(read("masses = [1.0]\nq0 = [1.0]\n" + quiet).report(),
              AllOf(HasSubstr("r.toml:2:"), HasSubstr("`potential`"), HasSubstr("`external`")));
  EXPECT_THAT(read("masses = [1.0]\nq0 = [1.0]\n" + harmonic + quiet).report(),
              AllOf(HasSubstr("r.toml:6:"), HasSubstr("only one")));
  EXPECT_THAT(
      read("masses = [1.0]\nq0 = [1.0]\nexternal = { kind = \"harmonic\", k = 2.0 }\npairs = [[0, 1]]\n" + quiet)
          .report(),
      AllOf(HasSubstr("r.toml:7:"), HasSubstr("needs a `potential`")));
  EXPECT_THAT(read("masses = []\nq0 = [1.0]\n" + harmonic + quiet).report(),
              AllOf(HasSubstr("r.toml:4:"), HasSubstr("empty")));
  EXPECT_THAT(read("masses = [1.0, 1.0]\nq0 = [1.0]\n" + harmonic + "damping = [0.0, 0.0]").report(),
              AllOf(HasSubstr("r.toml:5:"), HasSubstr("2 number(s)")));
  EXPECT_THAT(read("masses = [1.0]\nq0 = [[1.0, 2.0, 3.0, 4.0]]\n" + quiet).report(),
              AllOf(HasSubstr("r.toml:5:"), HasSubstr("at most 3 axes")));
  EXPECT_THAT(read("masses = [1.0, 1.0]\nq0 = []\n" + harmonic + "damping = [0.0, 0.0]").report(),
              HasSubstr("r.toml:5:"));
}

TEST(PairPotential, MayHaveAnExternalPotentialForEachParticle) {
  const std::string two = "masses = [1.0, 2.0]\ndamping = [0.0, 0.0]\nq0 = [3.0, 2.0]\n";
  const std::string externals =
      "externals = [{ kind = \"harmonic\", k = 4.0 }, { kind = \"quartic\", k = 1.0, beta = 2.0 }]\n";
  const ReadRecipe read_back = read_recipe(recipe(two + externals));
  ASSERT_EQ(read_back.report(), "");
  const auto value = [](const ReadRecipe& r) {
    return r.experiment->system().potential->value(Eigen::Vector2d(3.0, 2.0));
  };
  EXPECT_EQ(value(read_back), 2.0 * 9.0 + 0.5 * 4.0 + 0.5 * 16.0);
  const ReadRecipe again = read_recipe(read_back.recipe->resolved);
  ASSERT_EQ(again.report(), "");
  EXPECT_EQ(value(again), value(read_back));
  EXPECT_THAT(read("masses = [1.0]\ndamping = [0.0]\nq0 = [3.0]\n" + externals).report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("has 2 potentials for 1 particles")));
  EXPECT_THAT(read(two + externals + "external = { kind = \"harmonic\", k = 4.0 }").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("one of them")));
}

TEST(PairPotential, FindsSingularStarts) {
  const std::string atoms = "masses = [1.0, 1.0]\ndamping = [0.0, 0.0]\n";
  const std::string argon = "potential = { kind = \"lennard-jones\", epsilon = 1.0, sigma = 1.0 }\n";
  EXPECT_THAT(read(atoms + argon + "q0 = [1.0, 1.0]").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("particles 0 and 1")));
  const std::string bond = "external = { kind = \"morse\", depth = 1.0, width = 1.0, r0 = 1.0 }\n";
  EXPECT_THAT(read(atoms + bond + "q0 = [[1.0, 1.0], [0.0, 0.0]]").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("particle 1 and the origin")));
  EXPECT_EQ(read(atoms + bond + "q0 = [1.0, 0.0]").report(), "");
  EXPECT_EQ(read(atoms + harmonic + "q0 = [[1.0, 1.0], [1.0, 1.0]]").report(), "");
}

TEST(PairPotential, FindsWrongPotentials) {
  const std::string rest = "masses = [1.0, 1.0]\nq0 = [0.0, 1.0]\ndamping = [0.0, 0.0]\n";
  EXPECT_THAT(read(rest + "potential = { kind = \"morze\" }").report(),
              AllOf(HasSubstr("r.toml:7:15: "), HasSubstr("did you mean \"morse\"?")));
  EXPECT_THAT(read(rest + "potential = { k = 2.0 }").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("[system.potential] needs the key `kind`")));
  EXPECT_THAT(read(rest + "potential = { kind = \"harmonic\", k = 2.0, sigma = 1.0 }").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("unknown key `sigma` in [system.potential]")));
  EXPECT_THAT(read(rest + "potential = { kind = \"harmonic\", k = -2.0 }").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("k = -2.0: must be positive")));
  EXPECT_THAT(read(rest + "potential = { kind = \"harmonic\" }").report(), HasSubstr("needs the key `k`"));
  EXPECT_THAT(read(rest + "potential = \"harmonic\"").report(), AllOf(HasSubstr("r.toml:7:"), HasSubstr("a table")));
}

// The resolved recipe contains all values, with defaults, and is equivalent.
TEST(PairPotential, PotentialsSurviveTheResolvedRecipe) {
  const ReadRecipe first = read_recipe(recipe(chain + "damping = [0.1, 0.2, 0.3]\npairs = [[0, 1]]"),
                                       {"system.potential.k=5.0", "system.external={kind=\"quartic\",k=1.0,beta=2.0}"});
  ASSERT_EQ(first.report(), "");
  EXPECT_THAT(first.recipe->resolved,
              AllOf(HasSubstr("[system.potential]\nkind = \"harmonic\"\nk = 5.0\nrest_length = 0.0"),
                    HasSubstr("[system.external]\nkind = \"quartic\"")));
  const ReadRecipe second = read_recipe(first.recipe->resolved);
  ASSERT_EQ(second.report(), "");
  EXPECT_EQ(second.recipe->resolved, first.recipe->resolved);
  EXPECT_EQ(energy(second), energy(first));
}

TEST(BinaryOscillator, IsOneSpringAndTwoDampers) {
  const std::string start = "title = \"t\"\n[system]\nkind = \"binary-oscillator\"\nm1 = 100.0\nm2 = 50.0\nk = 10.0\n";
  const std::string rest = "q0 = [3.0, -1.0]\n[time]\nstep = 0.01\nsteps = 10\n[[integrators]]\nmethod = \"gamma\"\n";
  const ReadRecipe read = read_recipe(start + "damping = [7.0, 9.0]\n" + rest + "on = \"open\"\n");
  ASSERT_EQ(read.report(), "");
  const ParticleSystem& system = read.experiment->system();
  EXPECT_EQ(system.mass, (Eigen::VectorXd{{100.0, 50.0}}));
  EXPECT_EQ(energy(read), 0.5 * 10.0 * 16.0);
  Eigen::VectorXd gradient(2);
  system.potential->gradient(system.q0, gradient);
  EXPECT_EQ(gradient, (Eigen::VectorXd{{40.0, -40.0}}));
  EXPECT_EQ(*system.damping, (Eigen::MatrixXd{{7.0, 0.0}, {0.0, 9.0}}));
  EXPECT_TRUE(system.potential->is_quadratic());
  EXPECT_THAT(read_recipe(start + "damping = [7.0]\n" + rest + "on = \"open\"\n").report(),
              AllOf(HasSubstr("r.toml:7:"), HasSubstr("2 number(s)")));
  // Without `damping` the lines imply it.
  const ReadRecipe lines = read_recipe(
      start + rest +
      "on = \"open\"\n[[environments]]\nkind = \"spring-mass-line\"\nattach = 1\nsites = 9\nM = 4.0\nlambda = 9.0\n");
  ASSERT_EQ(lines.report(), "");
  const Problem problem = lines.experiment->make_problem(lines.experiment->cases().front());
  EXPECT_EQ(problem.damping(), (Eigen::MatrixXd{{0.0, 0.0}, {0.0, 6.0}}));
}

TEST(PairPotential, ChainsHaveAShortForm) {
  const std::string spring = "potential = { kind = \"fput\", k = 2.0, alpha = 0.25, beta = 0.5 }\n";
  const std::string words = "particles = 4\nmasses = 1.5\nq0 = \"0.1*sin(pi*(i + 1)/(n + 1))\"\nv0 = 0.5\n" + spring;
  const auto q_at = [](int i) { return 0.1 * std::sin(M_PI * (i + 1) / 5.0); };
  const auto V = [](double s) { return s * s + 0.25 * s * s * s / 3.0 + 0.125 * s * s * s * s; };
  for (const std::string pairs : {"neighbours", "ring", "all"}) {
    for (const std::string ends : {"free", "fixed"}) {
      const ReadRecipe recipe_with_ends = read(words + "pairs = \"" + pairs + "\"\nends = \"" + ends + "\"");
      ASSERT_EQ(recipe_with_ends.report(), "");
      const ParticleSystem& system = recipe_with_ends.experiment->system();
      ASSERT_EQ(system.particles, 4);
      EXPECT_EQ(system.mass, Eigen::VectorXd(Eigen::Vector4d::Constant(1.5)));
      EXPECT_EQ(system.v0, Eigen::VectorXd(Eigen::Vector4d::Constant(0.5)));
      const Eigen::Vector4d q(0.1, -0.2, 0.35, 0.05);
      for (int i = 0; i < 4; ++i) EXPECT_NEAR(system.q0[i], q_at(i), 1e-16);
      double expected = 0.0;
      for (int a = 0; a < 4; ++a) {
        for (int b = a + 1; b < 4; ++b) {
          if (b == a + 1 || pairs == "all") expected += V(q[b] - q[a]);
        }
      }
      if (pairs == "ring") expected += V(q[0] - q[3]);
      if (ends == "fixed") expected += V(q[0]) + V(-q[3]);
      EXPECT_NEAR(system.potential->value(q), expected, 1e-15) << pairs << " " << ends;
      Eigen::VectorXd gradient;
      system.potential->gradient(q, gradient);
      const auto value = [&](const Eigen::VectorXd& position) { return system.potential->value(position); };
      EXPECT_LT((gradient - gradient_of(value, q)).norm(), 1e-11) << pairs << " " << ends;
      Eigen::MatrixXd hessian;
      system.potential->hessian(q, hessian);
      const auto gradient_at = [&](const Eigen::VectorXd& position) {
        Eigen::VectorXd result;
        system.potential->gradient(position, result);
        return result;
      };
      EXPECT_LT((hessian - jacobian_of(gradient_at, q)).norm(), 1e-10) << pairs << " " << ends;
    }
  }
  const ReadRecipe planar = read("particles = 3\nmasses = 1.0\nq0 = [\"cos(2*pi*i/n)\", \"sin(2*pi*i/n)\"]\n" + spring);
  ASSERT_EQ(planar.report(), "");
  EXPECT_EQ(planar.experiment->system().axes, 2);
  EXPECT_NEAR(planar.experiment->system().q0[2], std::cos(2.0 * M_PI / 3.0), 1e-15);
  EXPECT_NEAR(planar.experiment->system().q0[3], std::sin(2.0 * M_PI / 3.0), 1e-15);
}

TEST(PairPotential, ReadsNumbersAsFormulasOfTheIndex) {
  const std::string plane = "q0 = [\"i\", \"0\"]\nparticles = 3\n" + harmonic;
  const ReadRecipe formulas = read("masses = \"1 + i\"\ndamping = \"i/n\"\nkT = \"step(0.5 - i)\"\n" + plane);
  const ReadRecipe lists = read("masses = [1, 2, 3]\ndamping = [0.0, 0.3333333333333333, 0.6666666666666666]\n" +
                                ("kT = [1, 0, 0]\n" + plane));
  for (const ReadRecipe* read_recipe : {&formulas, &lists}) {
    ASSERT_EQ(read_recipe->report(), "");
    const ParticleSystem& system = read_recipe->experiment->system();
    EXPECT_EQ(system.mass, (Eigen::VectorXd{{1.0, 1.0, 2.0, 2.0, 3.0, 3.0}}));
    EXPECT_EQ(system.damping->diagonal(), (Eigen::VectorXd{{0.0, 0.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0}}));
    EXPECT_TRUE(system.damping->isDiagonal(0.0));
    EXPECT_EQ(*system.temperature, (Eigen::VectorXd{{1.0, 1.0, 0.0, 0.0, 0.0, 0.0}}));
  }
  const ReadRecipe equal = read("masses = 1.0\ndamping = 0.5\n" + plane);
  ASSERT_EQ(equal.report(), "");
  EXPECT_EQ(*equal.experiment->system().damping, 0.5 * Eigen::MatrixXd::Identity(6, 6));
  for (const auto& [keys, message] : std::vector<std::pair<std::string, std::string>>{
           {"masses = \"i\"", "masses: for i = 0 the formula is 0: must be positive"},
           {"masses = \"i\"", "to hold a particle"},
           {"masses = 0.0", "to hold a particle"},
           {"masses = 1.0\ndamping = \"1 - i\"", "damping: for i = 2 the formula is -1: must not be negative"},
           {"masses = 1.0\nkT = \"-i\"", "kT: for i = 1 the formula is -1: must not be negative"},
           {"masses = 1.0\nkT = \"1/abs(i - 1)\"", "for i = 1 the formula has no finite value"},
           {"masses = 1.0\nkT = \"0.1*j\"", "kT: unknown name `j`"},
           {"masses = 1.0\nkT = [1.0]", "`kT` has 1 numbers for 3 particles"}}) {
    EXPECT_THAT(read(keys + "\n" + plane).report(), HasSubstr(message));
  }
  EXPECT_THAT(read("masses = \"1\"\nq0 = 0.0\n" + harmonic).report(), HasSubstr("give their number"));
}

TEST(PairPotential, FormulasOfPotentialsMayContainIndices) {
  const std::string keys =
      "masses = 1.0\ndamping = 0.0\nq0 = [1.0, 3.0, 7.0]\npairs = \"neighbours\"\nends = \"fixed\"\n";
  // Separations 1 from the left end, 2, 4, and -7 to the right end.
  for (const auto& [formula, expected] :
       std::vector<std::pair<std::string, double>>{{"V = \"(i + 2)*r^2\"", 1.0 + 2.0 * 4.0 + 3.0 * 16.0 + 4.0 * 49.0},
                                                   {"V = \"j*n*r^2\"", 3.0 * (4.0 + 2.0 * 16.0 + 3.0 * 49.0)},
                                                   {"V = \"i*r^n\", n = 2, i = 5", 5.0 * (1.0 + 4.0 + 16.0 + 49.0)}}) {
    const ReadRecipe pairs = read(keys + "potential = { kind = \"formula\", " + formula + " }");
    ASSERT_EQ(pairs.report(), "");
    EXPECT_DOUBLE_EQ(energy(pairs), expected) << formula;
  }
  const std::string fields = "masses = 1.0\ndamping = 0.0\n";
  for (const std::string q0 : {"[1.0, 3.0]", "[[1.0, 0.0], [3.0, 0.0]]"}) {
    for (const std::string square : {"r^2", "x^2"}) {
      const ReadRecipe walls =
          read(fields + "q0 = " + q0 + "\nexternal = { kind = \"formula\", V = \"(1 + i/n)*" + square + "\" }");
      ASSERT_EQ(walls.report(), "");
      EXPECT_DOUBLE_EQ(energy(walls), 1.0 + 1.5 * 9.0);
    }
  }
  EXPECT_THAT(read(keys + "potential = { kind = \"formula\", V = \"i*r^2 + a\" }").report(),
              HasSubstr("unknown name `a`"));
  EXPECT_THAT(read(keys + "mode_energies = true\npotential = { kind = \"formula\", V = \"(2 + i)*r^2\" }").report(),
              HasSubstr("`potential` is the same for all pairs, without `i` and `j`"));
}

// The oracle are differences of the energies along the motion without damping.
TEST(PairPotential, CurrentsBalanceTheEnergiesOfParticles) {
  const std::string records =
      "masses = [1.0, 2.0, 0.7]\ndamping = 0.3\nparticle_energies = true\nbond_currents = true\n";
  const std::string morse = "potential = { kind = \"morse\", depth = 1.5, width = 2.0, r0 = 1.1 }\n";
  const std::string pinned = "external = { kind = \"quartic\", k = 0.4, beta = 0.3 }\n";
  const std::string field = "external = { kind = \"formula\", V = \"(1 + i/n)*x^2*y\" }\n";
  const std::string line = "q0 = [0.1, 1.3, 2.1]\n", plane = "q0 = [[0.1, 0.4], [-1.3, 0.2], [0.9, -2.0]]\n";
  const std::string space = "q0 = [[0.1, 0.4, 0.2], [-1.3, 0.2, 0.7], [0.9, -2.0, -0.3]]\n";
  using Ends = std::vector<std::pair<int, int>>;
  for (const auto& [keys, pairs] : std::vector<std::pair<std::string, Ends>>{
           {line + morse + pinned + "pairs = \"neighbours\"\nends = \"fixed\"", {{0, 1}, {1, 2}}},
           {line + morse + "pairs = \"ring\"", {{0, 1}, {1, 2}, {2, 0}}},
           {plane + morse + field, {{0, 1}, {0, 2}, {1, 2}}},
           {space + morse + pinned + "pairs = [[2, 1]]", {{1, 2}}}}) {
    const ReadRecipe recipe = read(records + keys);
    ASSERT_EQ(recipe.report(), "");
    const ParticleSystem& system = recipe.experiment->system();
    ASSERT_EQ(system.observables.size(), 2u);
    const Observable &energies = system.observables[0], &currents = system.observables[1];
    RandomNumbers random(5);
    Eigen::VectorXd v(system.size());
    for (double& number : v) number = random.uniform();
    Eigen::VectorXd gradient;
    system.potential->gradient(system.q0, gradient);
    const Eigen::VectorXd acceleration = -gradient.cwiseQuotient(system.mass);
    const double kinetic = 0.5 * v.dot(system.mass.cwiseProduct(v));
    EXPECT_NEAR(energies.value(system.q0, v, 0.0).sum(), kinetic + system.potential->value(system.q0), 1e-12);
    const double h = 1e-5;
    const Eigen::VectorXd rates = (energies.value(system.q0 + h * v, v + h * acceleration, 0.0) -
                                   energies.value(system.q0 - h * v, v - h * acceleration, 0.0)) /
                                  (2.0 * h);
    const Eigen::VectorXd current = currents.value(system.q0, v, 0.0);
    ASSERT_EQ(static_cast<std::size_t>(current.size()), pairs.size());
    Eigen::VectorXd balance = Eigen::VectorXd::Zero(3);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      balance[pairs[i].first] -= current[static_cast<Eigen::Index>(i)];
      balance[pairs[i].second] += current[static_cast<Eigen::Index>(i)];
    }
    EXPECT_LT((rates - balance).norm(), 1e-8) << keys;
  }
}

TEST(PairPotential, FindsIncompleteChains) {
  const std::string spring = "potential = { kind = \"toda\", a = 2.0, b = 0.5 }\n";
  EXPECT_THAT(read("masses = 1.0\nq0 = 0.5\n" + spring).report(), HasSubstr("give their number"));
  EXPECT_THAT(read("particles = 3\nmasses = [1.0, 2.0]\nq0 = 0.5\n" + spring).report(),
              HasSubstr("`masses` has 2 numbers for 3 particles"));
  EXPECT_THAT(read("particles = 1000000\nmasses = 1.0\nq0 = 0.5\n" + spring).report(), HasSubstr("at most 4096"));
  EXPECT_THAT(read("particles = 3\nmasses = 1.0\nq0 = \"0.1*j\"\n" + spring).report(),
              HasSubstr("r.toml:6:11: q0: unknown name `j`"));
  EXPECT_THAT(read("particles = 3\nmasses = 1.0\nq0 = \"1/(i - 1)\"\n" + spring).report(),
              HasSubstr("for i = 1 the formula has no finite value"));
  EXPECT_THAT(read("particles = 3\nmasses = 1.0\nq0 = 0.0\npairs = \"neighbors\"\n" + spring).report(),
              HasSubstr("did you mean \"neighbours\"?"));
  EXPECT_THAT(read("masses = [1.0]\nq0 = 0.0\nends = \"fixed\"\nexternal = { kind = \"harmonic\", k = 1.0 }").report(),
              HasSubstr("`ends` needs a `potential`"));
}

}  // namespace
}  // namespace bathline::pair_potential_test
