// Energies of a chain's modes against eigenvectors of its stiffness matrix.
#include "model/systems/chain_modes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "random_numbers.hpp"
#include "recipe_text.hpp"

namespace bathline::chain_modes_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::HasSubstr;

constexpr double mass = 1.7, stiffness = 2.3;

/// The stiffness matrix of springs between neighbours, assembled spring by spring.
MatrixXd stiffness_of(int n, ChainEnds ends) {
  MatrixXd matrix = MatrixXd::Zero(n, n);
  const auto add = [&](int a, int b) {
    matrix(a, a) += stiffness;
    if (b < 0) return;
    matrix(b, b) += stiffness;
    matrix(a, b) -= stiffness;
    matrix(b, a) -= stiffness;
  };
  for (int i = 0; i + 1 < n; ++i) add(i, i + 1);
  if (ends == ChainEnds::ring) add(n - 1, 0);
  if (ends == ChainEnds::fixed) {
    add(0, -1);
    add(n - 1, -1);
  }
  return matrix;
}

// Modes are ordered by rising eigenvalues; those of a ring are pairs of equal ones, which share an entry.
TEST(ChainModes, AreThoseOfTheStiffnessMatrix) {
  RandomNumbers random(5);
  for (const ChainEnds ends : {ChainEnds::free, ChainEnds::fixed, ChainEnds::ring}) {
    for (const int n : {3, 4, 7, 16, 31}) {
      const Observable modes = mode_energies(n, ends, mass, stiffness);
      const MatrixXd matrix = stiffness_of(n, ends);
      const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(matrix);
      VectorXd q(n), v(n);
      for (double& x : q) x = random.uniform(-1.0, 1.0);
      for (double& x : v) x = random.uniform(-1.0, 1.0);
      const VectorXd Q = eigen.eigenvectors().transpose() * q, V = eigen.eigenvectors().transpose() * v;
      const VectorXd mode_energy_values =
          0.5 * (mass * V.cwiseAbs2() + eigen.eigenvalues().cwiseProduct(Q.cwiseAbs2()));
      VectorXd expected = mode_energy_values;
      if (ends == ChainEnds::ring) {
        expected = VectorXd::Zero(n / 2 + 1);
        for (int i = 0; i < n; ++i) expected[(i + 1) / 2] += mode_energy_values[i];
      }
      const VectorXd actual = modes.value(q, v, 0.0);
      ASSERT_EQ(modes.size, expected.size());
      EXPECT_EQ(modes.first, ends == ChainEnds::fixed ? 1 : 0);
      EXPECT_LT((actual - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.sum()) << n;
      EXPECT_NEAR(actual.sum(), 0.5 * (mass * v.squaredNorm() + q.dot(matrix * q)), 1e-13 * actual.sum());
    }
  }
}

std::string chain(const std::string& lines, const std::string& masses = "1.7") {
  return "title = \"t\"\n[system]\nkind = \"pair-potential\"\nparticles = 5\nmode_energies = true\nmasses = " + masses +
         "\n" + lines + "\n[time]\nstep = 0.01\nsteps = 10\n[[integrators]]\nmethod = \"gamma\"\non = \"closed\"\n";
}

const std::string fput = "potential = { kind = \"fput\", k = 2.3, alpha = 0.25 }\n";

TEST(ChainModes, TakeMassAndStiffnessFromTheRecipe) {
  for (const auto& [keys, ends] :
       std::vector<std::pair<std::string, ChainEnds>>{{"pairs = \"neighbours\"", ChainEnds::free},
                                                      {"pairs = \"neighbours\"\nends = \"fixed\"", ChainEnds::fixed},
                                                      {"pairs = \"ring\"", ChainEnds::ring}}) {
    const ReadRecipe read = read_recipe(chain(fput + keys + "\nq0 = \"0.1*sin(i + 1)\"\nv0 = \"cos(i^2)\""));
    ASSERT_EQ(read.report(), "");
    const ParticleSystem& system = read.experiment->system();
    ASSERT_EQ(system.observables.size(), 1u);
    EXPECT_EQ(system.observables[0].name, "mode_energy");
    EXPECT_EQ(system.observables[0].value(system.q0, system.v0, 0.0),
              mode_energies(5, ends, 1.7, 2.3).value(system.q0, system.v0, 0.0));
  }
}

TEST(ChainModes, RefusesChainsWithUnknownModes) {
  const auto report = [](const std::string& lines, const std::string& masses = "1.7") {
    return read_recipe(chain(lines, masses)).report();
  };
  const std::string start = "q0 = 0.0\n", neighbours = "pairs = \"neighbours\"\n";
  EXPECT_EQ(report(fput + start + neighbours), "");
  EXPECT_THAT(report(fput + start), HasSubstr("r.toml:5:"));
  EXPECT_THAT(report(fput + start), HasSubstr("pairs = \"neighbours\""));
  EXPECT_THAT(report(fput + start + "pairs = [[0, 1]]"), HasSubstr("pairs = \"neighbours\""));
  EXPECT_THAT(report(fput + start + "pairs = \"ring\"\nends = \"fixed\""), HasSubstr("without ends"));
  EXPECT_THAT(report(fput + start + neighbours, "[1.0, 1.0, 2.0, 1.0, 1.0]"), HasSubstr("masses are equal"));
  EXPECT_THAT(report(fput + neighbours + "q0 = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]]"),
              HasSubstr("one axis"));
  EXPECT_THAT(report(fput + start + neighbours + "external = { kind = \"harmonic\", k = 1.0 }"),
              HasSubstr("nothing else"));
  EXPECT_THAT(report("potential = { kind = \"morse\", depth = 4.0, width = 0.5, r0 = 1.0 }\n" + start + neighbours),
              HasSubstr("there V' is"));
  EXPECT_THAT(
      report("potential = { kind = \"double-well\", barrier = 1.0, half_distance = 1.0 }\n" + start + neighbours),
      HasSubstr("mode_energies"));
}

}  // namespace
}  // namespace bathline::chain_modes_test
