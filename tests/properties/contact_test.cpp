// Methods for contact systems: order, exactness, the contact form, momenta of symmetries, and the paper's own formulas.
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/contact_lagrangian.hpp"
#include "attracting_centre.hpp"
#include "differences.hpp"
#include "extrapolation.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "simulation.hpp"

namespace bathline::contact_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ParticleSystem contact_system(std::shared_ptr<const Potential> potential, const VectorXd& q0, const VectorXd& v0,
                              double gamma, double z0) {
  ParticleSystem system =
      make_particles(VectorXd::Ones(q0.size()), std::move(potential), q0, v0, static_cast<int>(q0.size()));
  system.contact = Contact{.gamma = gamma, .z0 = z0, .q1 = {}};
  return system;
}

Simulation simulation_of(const ParticleSystem& system, const Scheme& scheme, double h) {
  const MatrixXd damping = -system.contact->gamma * MatrixXd::Identity(system.size(), system.size());
  return Simulation({system, damping, {}}, scheme, h);
}

/// V = q^2/2 + q^4/4, gamma = -1/2.
ParticleSystem duffing() {
  return contact_system(std::make_shared<QuarticPotential>(MatrixXd::Identity(1, 1), 1.0), VectorXd::Constant(1, 1.25),
                        VectorXd::Constant(1, 0.25), -0.5, 0.75);
}

ParticleSystem linear(double k, double q0, double v0, double gamma, double z0) {
  return contact_system(std::make_shared<QuadraticPotential>(MatrixXd::Constant(1, 1, k)), VectorXd::Constant(1, q0),
                        VectorXd::Constant(1, v0), gamma, z0);
}

/// (q, p, z, work of the damping) at time 2 of one particle with force f = -V'.
LongState reference(long double (*potential)(long double), long double (*force)(long double), long double gamma,
                    const LongState& start) {
  return extrapolated(
      [=](const LongState& x) {
        const long double v = x[1];
        return LongState{v, force(x[0]) + gamma * v, 0.5L * v * v - potential(x[0]) + gamma * x[2], -gamma * v * v};
      },
      start, 2.0L, 40);
}

double error(const ParticleSystem& system, const Scheme& scheme, const LongState& solution, int steps) {
  Simulation simulation = simulation_of(system, scheme, 2.0 / steps);
  simulation.advance(steps);
  return std::abs(simulation.q()[0] - static_cast<double>(solution[0])) +
         std::abs(simulation.p()[0] - static_cast<double>(solution[1])) +
         std::abs(simulation.z() - static_cast<double>(solution[2]));
}

const LongState& duffing_solution() {
  static const LongState solution =
      reference([](long double q) { return 0.5L * q * q + 0.25L * q * q * q * q; },
                [](long double q) { return -q - q * q * q; }, -0.5L, {1.25L, 0.25L, 0.75L, 0.0L});
  return solution;
}

TEST(MpiContactMethods, HerglotzHasOrderOneWithItsAction) {
  double coarse = error(duffing(), HerglotzScheme{}, duffing_solution(), 64), order = 0.0;
  for (int steps = 128; steps <= 2048; steps *= 2) {
    const double fine = error(duffing(), HerglotzScheme{}, duffing_solution(), steps);
    order = std::log2(coarse / fine);
    coarse = fine;
  }
  EXPECT_NEAR(order, 1.0, 0.02);
  // q, p and z each, and not only their sum.
  Simulation simulation = simulation_of(duffing(), HerglotzScheme{}, 1.0 / 1024.0);
  simulation.advance(2048);
  EXPECT_NEAR(simulation.q()[0], static_cast<double>(duffing_solution()[0]), 1e-3);
  EXPECT_NEAR(simulation.p()[0], static_cast<double>(duffing_solution()[1]), 1e-3);
  EXPECT_NEAR(simulation.z(), static_cast<double>(duffing_solution()[2]), 1e-3);
  EXPECT_NEAR(simulation.energies().dissipated, static_cast<double>(duffing_solution()[3]), 1e-3);
}

TEST(MpiContactMethods, ExactFlowIsExactWithItsActionAndItsWork) {
  const auto zero = [](long double) { return 0.0L; };
  const LongState free = reference(zero, zero, -0.5L, {0.5L, -1.5L, 0.25L, 0.0L});
  const LongState harmonic = reference([](long double q) { return q * q; }, [](long double q) { return -2.0L * q; },
                                       -0.5L, {0.5L, -1.5L, 0.25L, 0.0L});
  const std::vector<std::pair<ParticleSystem, LongState>> subjects = {{duffing(), duffing_solution()},
                                                                      {linear(0.0, 0.5, -1.5, -0.5, 0.25), free},
                                                                      {linear(2.0, 0.5, -1.5, -0.5, 0.25), harmonic}};
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& [system, solution] = subjects[i];
    for (const int steps : {1, 8, 64}) EXPECT_LT(error(system, ExactFlow{}, solution, steps), i == 0 ? 1e-11 : 1e-13);
    Simulation simulation = simulation_of(system, ExactFlow{}, 0.25);
    const auto hamiltonian = [&] { return simulation.energies().particles + 0.5 * simulation.z(); };
    const double start = simulation.total_energy(), hamiltonian_at_start = hamiltonian();
    simulation.advance(8);
    EXPECT_NEAR(simulation.energies().dissipated, static_cast<double>(solution[3]), 1e-11);
    EXPECT_NEAR(simulation.total_energy(), start, 1e-11);
    EXPECT_NEAR(hamiltonian(), hamiltonian_at_start * std::exp(-1.0), 1e-11);
    // The exact discrete Lagrangian, where there is one, has the same motion.
    if (i == 0) continue;
    // Its gradients are differences of numbers of the size m q / h: 64 steps x 64/2 x a few u x 1.5.
    for (const int steps : {1, 8, 64}) EXPECT_LT(error(system, HerglotzScheme{true}, solution, steps), 1e-12);
  }
}

// simoes2020, section 5: the discrete Herglotz equations as two-step recursions.
TEST(MpiContactMethods, HerglotzTakesThePapersSteps) {
  const double gamma = -0.05, h = 0.5;
  for (const double k : {0.0, 1.0}) {
    ParticleSystem system = linear(k, 1.0, 99.0, gamma, 0.125);
    system.contact->q1 = VectorXd::Constant(1, 2.0);
    Simulation simulation = simulation_of(system, HerglotzScheme{}, h);
    double previous = 1.0, current = 2.0, z = 0.125;
    for (int step = 0; step < 40; ++step) {
      ASSERT_FALSE(simulation.try_to_advance(1));
      z = (current - previous) * (current - previous) / (2.0 * h) -
          k * h / 8.0 * (current + previous) * (current + previous) + (1.0 + h * gamma) * z;
      ASSERT_NEAR(simulation.q()[0], current, 1e-12);
      ASSERT_NEAR(simulation.z(), z, 1e-12);
      double next = (h * gamma + 2.0) * current - (h * gamma + 1.0) * previous;
      if (k == 1.0) {
        next = ((8.0 - 2.0 * h * h + 4.0 * h * gamma - h * h * h * gamma) * current -
                (4.0 + h * h + 4.0 * h * gamma + h * h * h * gamma) * previous) /
               (4.0 + h * h);
      }
      previous = current;
      current = next;
    }
  }
}

TEST(MpiContactMethods, EveryMethodGoesFromQ0ToQ1) {
  for (const bool nonlinear : {false, true}) {
    ParticleSystem system = nonlinear ? duffing() : linear(1.0, 1.25, 0.0, -0.5, 0.0);
    system.contact->q1 = VectorXd::Constant(1, 0.5);
    for (const Scheme& scheme : {Scheme(HerglotzScheme{}), Scheme(ExactFlow{})}) {
      Simulation simulation = simulation_of(system, scheme, 0.5);
      ASSERT_FALSE(simulation.try_to_advance(1));
      EXPECT_NEAR(simulation.q()[0], 0.5, 1e-12);
    }
  }
}

TEST(MpiContactMethods, AnUnreachableStartIsAFailure) {
  // After half a period all motions are at the same point.
  ParticleSystem system = linear(1.0, 1.0, 0.0, -0.5, 0.0);
  system.contact->q1 = VectorXd::Constant(1, 5.0);
  Simulation simulation = simulation_of(system, ExactFlow{}, M_PI / std::sqrt(0.9375));
  const std::optional<Failure> failure = simulation.try_to_advance(1);
  if (failure) {
    EXPECT_NE(failure->reason.find("q1"), std::string::npos);
    return;
  }
  // With round-off the momentum may be enormous instead, but nothing in between.
  EXPECT_GT(simulation.p().norm(), 1e10);
}

/// One step as a map of (q, p, z).
VectorXd stepped(const ParticleSystem& system, const Scheme& scheme, double h, const VectorXd& x) {
  Simulation simulation = simulation_of(system, scheme, h);
  const Eigen::Index n = system.size();
  simulation.set_particles(x.head(n), x.segment(n, n), x[2 * n]);
  simulation.advance(1);
  VectorXd result(2 * n + 1);
  result << simulation.q(), simulation.p(), simulation.z();
  return result;
}

TEST(MpiContactMethods, AStepScalesTheContactForm) {
  RandomNumbers random(43);
  const MatrixXd half = random_matrix(2, 2, random);
  const VectorXd zero = VectorXd::Zero(2);
  const ParticleSystem nonlinear =
      contact_system(std::make_shared<QuarticPotential>(half * half.transpose(), 0.8), zero, zero, -0.6, 0.0);
  const ParticleSystem harmonic =
      contact_system(std::make_shared<QuadraticPotential>(1.5 * MatrixXd::Identity(2, 2)), zero, zero, -0.6, 0.0);
  const double h = 0.4, exact_factor = std::exp(-0.24);
  struct Subject {
    const ParticleSystem& system;
    Scheme scheme;
    double factor;
  };
  for (const Subject& subject :
       {Subject{nonlinear, HerglotzScheme{}, 0.76}, Subject{harmonic, HerglotzScheme{}, 0.76},
        Subject{harmonic, HerglotzScheme{true}, exact_factor}, Subject{harmonic, ExactFlow{}, exact_factor}}) {
    const VectorXd x = random_matrix(5, 1, random);
    const auto map = [&](const VectorXd& point) { return stepped(subject.system, subject.scheme, h, point); };
    const auto form = [](const VectorXd& point) {
      VectorXd eta = VectorXd::Zero(5);
      eta << -point.segment(2, 2), VectorXd::Zero(2), 1.0;
      return eta;
    };
    const VectorXd pulled_back = jacobian_of(map, x).transpose() * form(map(x));
    EXPECT_LT((pulled_back - subject.factor * form(x)).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_NEAR(pulled_back[4], subject.factor, 1e-11);
  }
}

TEST(MpiContactMethods, AngularMomentumDecaysByTheFactor) {
  const ParticleSystem planet =
      contact_system(std::make_shared<AttractingCentre>(), VectorXd{{1.0, 0.2}}, VectorXd{{-0.1, 1.0}}, -0.1, 0.0);
  Simulation simulation = simulation_of(planet, HerglotzScheme{}, 0.05);
  double expected = 1.0 + 0.02;
  for (int step = 0; step < 60; ++step) {
    ASSERT_FALSE(simulation.try_to_advance(1));
    expected *= 0.995;
    const VectorXd q = simulation.q(), p = simulation.p();
    EXPECT_NEAR(q[0] * p[1] - q[1] * p[0], expected, 1e-12);
  }
}

TEST(MpiContactMethods, AStepWithoutSolutionIsAFailure) {
  // The middle of the first guess is the centre itself, where there is no force.
  const ParticleSystem comet =
      contact_system(std::make_shared<AttractingCentre>(), VectorXd{{1.0, 0.0}}, VectorXd{{-2.0, 0.0}}, -0.1, 0.0);
  const std::optional<Failure> failure = simulation_of(comet, HerglotzScheme{}, 1.0).try_to_advance(50);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->step, 1);
  EXPECT_NE(failure->reason.find("Newton"), std::string::npos);
}

}  // namespace
}  // namespace bathline::contact_test
