// The energy ledger: what leaves the particles is in the environment or with the damper, and the Lyapunov theory of
// limebeer2020 with its printed numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "advance/step_matrix.hpp"
#include "advance/stepper.hpp"
#include "attracting_centre.hpp"
#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "scene.hpp"
#include "solve/dense.hpp"

namespace bathline {
namespace {

Scene dual_oscillator(double m0, double M0, double k0, double K0) {
  Scene scene;
  scene.system.particles = 2;
  scene.system.mass = Eigen::VectorXd{{m0, M0}};
  scene.system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{k0, 0.0}, {0.0, K0}});
  scene.system.q0 = Eigen::VectorXd{{150.0, 0.0}};
  scene.system.v0 = Eigen::VectorXd{{0.0, 50.0}};
  return scene;
}

TEST(MpiEnergyLedger, ClosedLinearSystemKeepsItsEnergyUnderTheExactFlowAndTheMidpointRule) {
  Scene scene = dual_oscillator(500.0, 200.0, 1000.0, 1500.0);
  scene.lines = {{{{0, 1.0}, {1, -1.0}}, {.mass = 10.0, .stiffness = 1600.0}, 150}};
  for (const char* method : {"exact", "gamma(gamma=0.500000)"}) {
    SCOPED_TRACE(method);
    Problem problem = make_problem(scene, test_world());
    const std::unique_ptr<Stepper> stepper = make_stepper(method_case(method).scheme, problem, 0.1);
    const double start = problem.energies().total();
    for (int piece = 0; piece < 30; ++piece) {
      stepper->advance(10);
      const EnergyLedger ledger = problem.energies();
      ASSERT_NEAR(ledger.total(), start, 1e-12 * start);
      EXPECT_EQ(ledger.dissipated, 0.0);
    }
    // Two echoes later the environment has had its share.
    EXPECT_GT(problem.energies().environment, 0.05 * start);
  }
}

TEST(MpiEnergyLedger, OpenSystemsLoseWhatTheDamperTakes) {
  Scene dual = dual_oscillator(500.0, 200.0, 1000.0, 1500.0);
  dual.damping = 126.5 * Eigen::MatrixXd{{1.0, -1.0}, {-1.0, 1.0}};
  Scene kepler;
  kepler.system.axes = 2;
  kepler.system.particles = 1;
  kepler.system.mass = Eigen::VectorXd::Ones(2);
  kepler.system.potential = std::make_shared<AttractingCentre>();
  kepler.system.q0 = Eigen::VectorXd{{1.0, 0.0}};
  kepler.system.v0 = Eigen::VectorXd{{0.0, 1.1}};
  kepler.damping = 0.02 * Eigen::MatrixXd::Identity(2, 2);
  for (const Scene& scene : {dual, kepler}) {
    Problem problem = make_problem(scene, test_world());
    const std::unique_ptr<Stepper> stepper = make_stepper(ExactFlow{}, problem, 0.1);
    const double start = problem.energies().total();
    for (int piece = 0; piece < 10; ++piece) {
      stepper->advance(7);
      ASSERT_NEAR(problem.energies().total(), start, 1e-11 * std::abs(start));
    }
    EXPECT_GT(problem.energies().dissipated, 0.05 * std::abs(start));
    if (scene.system.axes == 2) {
      // limebeer2020, section V: the angular momentum decays exponentially.
      problem.share_particles();
      const double angular = problem.q[0] * problem.p[1] - problem.q[1] * problem.p[0];
      EXPECT_NEAR(angular, 1.1 * std::exp(-0.02 * 7.0), 1e-11);
    }
  }
}

// The midpoint rule's ledger closes on linear open systems as well: its damper works with the stage velocity.
TEST(MpiEnergyLedger, MidpointRuleClosesTheLedgerOfAnOpenLinearSystem) {
  Scene scene = dual_oscillator(500.0, 200.0, 1000.0, 1500.0);
  scene.lines = {
      {{{0, 1.0}, {1, -1.0}}, {.mass = 10.0, .stiffness = 1600.0, .far_end = FarEnd::matched, .dashpot = 0.0}, 90}};
  scene.damping = 3.0 * Eigen::MatrixXd::Identity(2, 2);
  Problem problem = make_problem(scene, test_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(method_case("gamma(gamma=0.500000)").scheme, problem, 0.1);
  const double start = problem.energies().total();
  stepper->advance(300);
  EXPECT_NEAR(problem.energies().total(), start, 1e-12 * start);
  EXPECT_GT(problem.energies().dissipated, 0.5 * start);
}

/// W = sum_j (A^T)^j Q A^j by doubling: no equation is solved.
Eigen::MatrixXd gramian(Eigen::MatrixXd a, Eigen::MatrixXd sum) {
  for (int doubling = 0; doubling < 40; ++doubling) {
    sum += (a.transpose() * sum * a).eval();
    a = (a * a).eval();
  }
  return sum;
}

// limebeer2020, Example IV.1; the paper prints 2.882, 135.9 and 223.7.
TEST(MpiEnergyLedger, LyapunovNormsAreThePapers) {
  const double k = 1600.0, b = 10.0, m0 = 300.0, M0 = 200.0, k0 = 1000.0, K0 = 1000.0, h = 0.01;
  Scene scene = dual_oscillator(m0, M0, k0, K0);
  scene.damping = std::sqrt(k * b) * Eigen::MatrixXd{{1.0, -1.0}, {-1.0, 1.0}};
  // Continuous: in the end the damper has all of the energy.
  const Eigen::MatrixXd w = 0.5 * Eigen::MatrixXd(Eigen::Vector4d(k0, K0, m0, M0).asDiagonal());
  Eigen::MatrixXd supply = Eigen::MatrixXd::Zero(4, 4);
  supply.bottomRightCorner(2, 2) = scene.damping;
  const auto norm = [&](const char* method) {
    Problem problem = make_problem(scene, test_world());
    const Eigen::MatrixXd step = step_matrix(method_case(method).scheme, problem, h);
    return spectral_norm(gramian(step, h * supply) - w);
  };
  EXPECT_NEAR(norm("gamma(gamma=0.000000)"), 2.8816, 5e-5);
  EXPECT_NEAR(norm("implicit-euler"), 135.85, 5e-3);
  EXPECT_NEAR(norm("explicit-euler"), 223.67, 5e-3);
}

}  // namespace
}  // namespace bathline
