// The energy ledger: the energy that leaves the particles is in the environment or dissipated, and the Lyapunov theory
// of limebeer2020 with its printed numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "attracting_centre.hpp"
#include "extrapolation.hpp"
#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "recipe_text.hpp"
#include "simulation.hpp"
#include "solve/dense.hpp"

namespace bathline::energy_ledger_test {
namespace {

Scene dual_oscillator(double m0, double M0, double k0, double K0) {
  Scene scene;
  scene.system = make_particles(Eigen::VectorXd{{m0, M0}},
                                std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{k0, 0.0}, {0.0, K0}}),
                                Eigen::VectorXd{{150.0, 0.0}}, Eigen::VectorXd{{0.0, 50.0}});
  return scene;
}

TEST(MpiEnergyLedger, ClosedLinearSystemKeepsItsEnergyUnderTheExactFlowAndTheMidpointRule) {
  Scene scene = dual_oscillator(500.0, 200.0, 1000.0, 1500.0);
  scene.lines = {{{{0, 1.0}, {1, -1.0}}, {.mass = 10.0, .stiffness = 1600.0}, 150}};
  for (const char* method : {"exact", "gamma(gamma=0.500000)"}) {
    SCOPED_TRACE(method);
    Simulation simulation(scene, method_case(method).scheme, 0.1);
    const double start = simulation.total_energy();
    for (int piece = 0; piece < 30; ++piece) {
      simulation.advance(10);
      const EnergyLedger ledger = simulation.energies();
      ASSERT_NEAR(ledger.total(), start, 1e-12 * start);
      EXPECT_EQ(ledger.dissipated, 0.0);
    }
    // After two echoes the environment has a part of the energy.
    EXPECT_GT(simulation.energies().environment, 0.05 * start);
  }
}

TEST(MpiEnergyLedger, OpenSystemsLoseTheDissipatedEnergy) {
  Scene dual = dual_oscillator(500.0, 200.0, 1000.0, 1500.0);
  dual.damping = 126.5 * Eigen::MatrixXd{{1.0, -1.0}, {-1.0, 1.0}};
  Scene kepler;
  kepler.system = make_particles(Eigen::VectorXd::Ones(2), std::make_shared<AttractingCentre>(),
                                 Eigen::VectorXd{{1.0, 0.0}}, Eigen::VectorXd{{0.0, 1.1}}, 2);
  kepler.damping = 0.02 * Eigen::MatrixXd::Identity(2, 2);
  for (const Scene& scene : {dual, kepler}) {
    Simulation simulation(scene, ExactFlow{}, 0.1);
    const double start = simulation.total_energy();
    for (int piece = 0; piece < 10; ++piece) {
      simulation.advance(7);
      ASSERT_NEAR(simulation.total_energy(), start, 1e-11 * std::abs(start));
    }
    EXPECT_GT(simulation.energies().dissipated, 0.05 * std::abs(start));
    if (scene.system.axes == 2) {
      // limebeer2020, section V: the angular momentum decays exponentially.
      const double angular = simulation.q()[0] * simulation.p()[1] - simulation.q()[1] * simulation.p()[0];
      EXPECT_NEAR(angular, 1.1 * std::exp(-0.02 * 7.0), 1e-11);
    }
  }
}

// The midpoint rule's ledger closes on linear open systems as well: its damper has the stage velocity.
TEST(MpiEnergyLedger, MidpointRuleClosesTheLedgerOfAnOpenLinearSystem) {
  Scene scene = dual_oscillator(500.0, 200.0, 1000.0, 1500.0);
  scene.lines = {
      {{{0, 1.0}, {1, -1.0}}, {.mass = 10.0, .stiffness = 1600.0, .far_end = FarEnd::matched, .dashpot = 0.0}, 90}};
  scene.damping = 3.0 * Eigen::MatrixXd::Identity(2, 2);
  Simulation simulation(scene, method_case("gamma(gamma=0.500000)").scheme, 0.1);
  const double start = simulation.total_energy();
  simulation.advance(300);
  EXPECT_NEAR(simulation.total_energy(), start, 1e-12 * start);
  EXPECT_GT(simulation.energies().dissipated, 0.5 * start);
}

/// Two coupled van der Pol oscillators, whose force accelerates one of them and brakes the other at the start.
ParticleSystem coupled_van_der_pol() {
  const ReadRecipe read = valid_recipe(
      "title = \"t\"\n[system]\nkind = \"coupled-van-der-pol\"\nepsilon = 0.5\nrho = 0.1\nlambda = 0.3\nq0 = [1.0, "
      "0.5]\n"
      "v0 = [0.25, 1.5]\n[time]\nstep = 0.1\nsteps = 1\n[[integrators]]\nmethod = \"rk4\"\non = \"open\"\n");
  return read.experiment->system();
}

// Energy of the particles and work of the force: each is right, and their sum constant, to the order of the scheme
// or better.
TEST(MpiEnergyLedger, HasTheWorkOfForcesToTheOrderOfTheScheme) {
  const ParticleSystem system = coupled_van_der_pol();
  // (q1, q2, v1, v2, work taken by the force) at time 2.
  const LongState solution = extrapolated(
      [](const LongState& x) {
        const long double f = (0.5L - x[0] * x[0]) * x[2], g = (0.5L - x[1] * x[1]) * x[3];
        return LongState{x[2], x[3], -1.3L * x[0] + 0.3L * x[1] + f, 0.3L * x[0] - 1.4L * x[1] + g,
                         -f * x[2] - g * x[3]};
      },
      {1.0L, 0.5L, 0.25L, 1.5L, 0.0L}, 2.0L, 40);
  const double work = static_cast<double>(solution[4]);
  ASSERT_GT(std::abs(work), 0.1);
  struct Errors {
    double work, total;
  };
  for (const MethodCase& method : method_cases()) {
    SCOPED_TRACE(method.name);
    const auto errors = [&](int steps) {
      Simulation simulation({system, *system.damping, {}}, method.scheme, 2.0 / steps);
      const double start = simulation.total_energy();
      simulation.advance(steps);
      const EnergyLedger ledger = simulation.energies();
      EXPECT_EQ(ledger.environment, 0.0);
      return Errors{std::abs(ledger.dissipated - work), std::abs(ledger.total() - start)};
    };
    if (method.properties.order == 0) {
      EXPECT_LT(errors(8).work, 1e-11);
      EXPECT_LT(errors(8).total, 1e-11);
      continue;
    }
    const int claimed = method.properties.order_damped > 0 ? method.properties.order_damped : method.properties.order;
    const int steps = claimed <= 2 ? 256 : claimed <= 4 ? 64 : claimed <= 6 ? 16 : 8;
    const Errors coarse = errors(steps), fine = errors(2 * steps);
    EXPECT_NEAR(std::log2(coarse.work / fine.work), claimed, 0.1 * claimed);
    if (method.properties.quadratic_invariants) {
      // With springs only, energy plus work is a quadratic invariant of the motion that has the work as a coordinate.
      EXPECT_LT(coarse.total, 1e-13);
    } else {
      // The sum may converge faster than its parts.
      EXPECT_GT(std::log2(coarse.total / fine.total), 0.9 * claimed);
    }
  }
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
  // Continuous: the damper dissipates all of the energy.
  const Eigen::MatrixXd w = 0.5 * Eigen::MatrixXd(Eigen::Vector4d(k0, K0, m0, M0).asDiagonal());
  Eigen::MatrixXd power = Eigen::MatrixXd::Zero(4, 4);
  power.bottomRightCorner(2, 2) = scene.damping;
  const auto norm = [&](const char* method) {
    const Eigen::MatrixXd step = step_matrix_of(scene, method_case(method).scheme, h);
    return spectral_norm(gramian(step, h * power) - w);
  };
  EXPECT_NEAR(norm("gamma(gamma=0.000000)"), 2.8816, 5e-5);
  EXPECT_NEAR(norm("implicit-euler"), 135.85, 5e-3);
  EXPECT_NEAR(norm("explicit-euler"), 223.67, 5e-3);
}

}  // namespace
}  // namespace bathline::energy_ledger_test
