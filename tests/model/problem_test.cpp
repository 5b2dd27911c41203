// Particles with several environments: forces against energies, and the ledger.
#include "model/problem.hpp"

#include <gtest/gtest.h>

#include "dense_system.hpp"
#include "quartic_potential.hpp"
#include "test_world.hpp"

namespace bathline {
namespace {

/// Two particles with two axes; two lines on the first, one between the two, of different kinds.
Setup crowded_setup(FarEnd far_end) {
  RandomNumbers random(5);
  Setup setup;
  setup.system = random_particles(2, 2, random);
  Eigen::MatrixXd stiffness = Eigen::MatrixXd::Random(4, 4);
  stiffness = (stiffness * stiffness.transpose()).eval();
  setup.system.potential = std::make_shared<QuarticPotential>(stiffness, 0.7);
  setup.lines = {{{{0, 1.0}}, {.mass = 1.5, .stiffness = 2.5, .far_end = far_end, .dashpot = 0.0}, 3},
                 {{{0, 1.0}, {1, -1.0}}, {.mass = 0.5, .stiffness = 4.0}, 90},
                 {{{0, 1.0}}, {.mass = 1.1, .stiffness = 0.7, .far_end = FarEnd::free, .dashpot = 0.0}, 1}};
  return setup;
}

TEST(MpiProblem, StartsAtRestAroundItsParticles) {
  const Setup setup = crowded_setup(FarEnd::fixed);
  Problem problem = make_problem(setup, test_world());
  EXPECT_EQ(problem.q, setup.system.q0);
  EXPECT_EQ(problem.p, setup.system.mass.cwiseProduct(setup.system.v0));
  const EnergyLedger ledger = problem.energies();
  EXPECT_EQ(ledger.environment, 0.0);
  EXPECT_EQ(ledger.interaction, 0.0);
  EXPECT_EQ(ledger.dissipated, 0.0);
  const double kinetic = 0.5 * setup.system.v0.dot(setup.system.mass.cwiseProduct(setup.system.v0));
  EXPECT_NEAR(ledger.particles, kinetic + setup.system.potential->value(setup.system.q0), 1e-14);
}

TEST(MpiProblem, LedgerAddsUpToTheEnergyOfTheWhole) {
  for (const FarEnd far_end : {FarEnd::fixed, FarEnd::free, FarEnd::matched}) {
    const Setup setup = crowded_setup(far_end);
    Problem problem = make_problem(setup, test_world());
    RandomNumbers random(6);
    const PhasePoint point = random_point(setup.size(), 1.0, random);
    set_state(problem, point);
    problem.dissipated = test_world().is_root() ? 2.25 : -1e9;  // known to rank 0 only
    const EnergyLedger ledger = problem.energies();
    EXPECT_EQ(ledger.dissipated, 2.25);
    EXPECT_NEAR(ledger.total() - 2.25, DenseSystem(setup).energy(point), 1e-12);
  }
}

TEST(MpiProblem, ForcesAreThoseOfTheWhole) {
  Setup setup = crowded_setup(FarEnd::fixed);
  Eigen::MatrixXd half = Eigen::MatrixXd::Random(4, 4);
  setup.damping = half * half.transpose();
  Problem problem = make_problem(setup, test_world());
  RandomNumbers random(7);
  const PhasePoint point = random_point(setup.size(), 1.0, random);
  set_state(problem, point);
  EXPECT_TRUE(problem.is_damped());
  if (!test_world().is_root()) return;
  const DenseSystem dense(setup);
  Eigen::VectorXd forces(4);
  problem.conservative_forces(problem.q, forces);
  const Eigen::VectorXd expected = dense.force(point.u).head(4);
  EXPECT_LT((forces - expected).cwiseAbs().maxCoeff(), 1e-13);
  const Eigen::VectorXd v = setup.system.v0;
  problem.forces(problem.q, v, forces);
  EXPECT_LT((forces - (expected - setup.damping * v)).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(MpiProblem, SharesTheParticlesOfRankZero) {
  const Setup setup = crowded_setup(FarEnd::fixed);
  Problem problem = make_problem(setup, test_world());
  problem.q.setConstant(test_world().rank() + 1.0);
  problem.p.setConstant(test_world().rank() + 2.0);
  problem.share_particles();
  EXPECT_EQ(problem.q, Eigen::VectorXd::Constant(4, 1.0));
  EXPECT_EQ(problem.p, Eigen::VectorXd::Constant(4, 2.0));
}

}  // namespace
}  // namespace bathline
