// Particles with several environments: forces against energies, and the ledger.
#include "model/problem.hpp"

#include <gtest/gtest.h>

#include "dense_system.hpp"
#include "quartic_potential.hpp"
#include "test_world.hpp"

namespace bathline::problem_test {
namespace {

/// Two particles with two axes; two different lines on the first, and one between the two.
Scene crowded_scene(FarEnd far_end) {
  RandomNumbers random(5);
  Scene scene;
  scene.system = random_particles(2, 2, random);
  const Eigen::MatrixXd half = random_matrix(4, 4, random);
  scene.system.potential = std::make_shared<QuarticPotential>(half * half.transpose(), 0.7);
  scene.lines = {{{{0, 1.0}}, {.mass = 1.5, .stiffness = 2.5, .far_end = far_end, .dashpot = 0.0}, 3},
                 {{{0, 1.0}, {1, -1.0}}, {.mass = 0.5, .stiffness = 4.0}, 90},
                 {{{0, 1.0}}, {.mass = 1.1, .stiffness = 0.7, .far_end = FarEnd::free, .dashpot = 0.0}, 1}};
  return scene;
}

TEST(MpiProblem, StartsAtRestAroundItsParticles) {
  const Scene scene = crowded_scene(FarEnd::fixed);
  Problem problem = make_problem(scene, test_world());
  EXPECT_EQ(problem.q, scene.system.q0);
  EXPECT_EQ(problem.p, scene.system.mass.cwiseProduct(scene.system.v0));
  const EnergyLedger ledger = problem.energies();
  EXPECT_EQ(ledger.environment, 0.0);
  EXPECT_EQ(ledger.interaction, 0.0);
  EXPECT_EQ(ledger.dissipated, 0.0);
  const double kinetic = 0.5 * scene.system.v0.dot(scene.system.mass.cwiseProduct(scene.system.v0));
  EXPECT_NEAR(ledger.particles, kinetic + scene.system.potential->value(scene.system.q0), 1e-14);
}

TEST(MpiProblem, LedgerAddsUpToTheEnergyOfTheDenseSystem) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    const Scene scene = crowded_scene(far_end);
    Problem problem = make_problem(scene, test_world());
    RandomNumbers random(6);
    const PhasePoint point = random_point(scene.size(), 1.0, random);
    set_state(problem, point);
    problem.dissipated = test_world().is_root() ? 2.25 : -1e9;  // rank 0 alone has the value
    const EnergyLedger ledger = problem.energies();
    EXPECT_EQ(ledger.dissipated, 2.25);
    EXPECT_NEAR(ledger.total() - 2.25, DenseSystem(scene).energy(point), 1e-12);
  }
}

TEST(MpiProblem, ForcesAreThoseOfTheDenseSystem) {
  Scene scene = crowded_scene(FarEnd::fixed);
  RandomNumbers random(7);
  const Eigen::MatrixXd half = random_matrix(4, 4, random);
  scene.damping = half * half.transpose();
  Problem problem = make_problem(scene, test_world());
  const PhasePoint point = random_point(scene.size(), 1.0, random);
  set_state(problem, point);
  EXPECT_TRUE(problem.is_damped());
  if (!test_world().is_root()) return;
  const DenseSystem dense(scene);
  Eigen::VectorXd forces(4);
  problem.forces(problem.q, Eigen::VectorXd::Zero(4), forces);
  const Eigen::VectorXd expected = dense.force(point.u).head(4);
  EXPECT_LT((forces - expected).cwiseAbs().maxCoeff(), 1e-13);
  const Eigen::VectorXd v = scene.system.v0;
  problem.forces(problem.q, v, forces);
  EXPECT_LT((forces - (expected - scene.damping * v)).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(MpiProblem, BroadcastsTheParticlesOfRankZero) {
  const Scene scene = crowded_scene(FarEnd::fixed);
  Problem problem = make_problem(scene, test_world());
  problem.q.setConstant(test_world().rank() + 1.0);
  problem.p.setConstant(test_world().rank() + 2.0);
  problem.broadcast_particles();
  EXPECT_EQ(problem.q, Eigen::VectorXd::Constant(4, 1.0));
  EXPECT_EQ(problem.p, Eigen::VectorXd::Constant(4, 2.0));
}

}  // namespace
}  // namespace bathline::problem_test
