// The exact flow against closed forms and against the exponential of the dense matrix of the whole system.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "steppers/stepper.hpp"
#include "dense_system.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "solve/dense.hpp"

namespace bathline::exact_stepper_test {
namespace {

ParticleSystem oscillator(double mass, double stiffness, double q0, double v0) {
  return make_particles(Eigen::VectorXd::Constant(1, mass),
                        std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Constant(1, 1, stiffness)),
                        Eigen::VectorXd::Constant(1, q0), Eigen::VectorXd::Constant(1, v0));
}

// A particle with the mass of the sites and a spring like theirs makes a chain of n + 1 equal masses between two walls.
TEST(MpiExactStepper, FollowsTheNormalModesOfAChain) {
  constexpr int sites = 90;
  constexpr double mass = 1.7, stiffness = 2.3, h = 0.31;
  Scene scene;
  scene.system = oscillator(mass, stiffness, 0.0, 0.0);
  scene.lines = {{{{0, 1.0}}, {.mass = mass, .stiffness = stiffness}, sites}};
  for (const int mode : {1, 7, 46, 91}) {
    SCOPED_TRACE(mode);
    const double angle = std::numbers::pi * mode / (sites + 2);
    const double omega = 2.0 * std::sqrt(stiffness / mass) * std::sin(0.5 * angle);
    PhasePoint point{Eigen::VectorXd(sites + 1), Eigen::VectorXd(sites + 1)};
    for (int i = 0; i <= sites; ++i) {
      point.u[i] = std::sin(angle * (i + 1));
      point.p[i] = 0.5 * mass * omega * point.u[i];
    }
    Problem problem = make_problem(scene, test_world());
    set_state(problem, point);
    const std::unique_ptr<Stepper> stepper = make_exact_stepper(problem, h);
    double t = 0.0;
    for (const int steps : {1, 3, 100}) {
      EXPECT_FALSE(stepper->advance(steps).has_value());
      t += steps * h;
      const PhasePoint end = get_state(problem);
      const Eigen::VectorXd u = (std::cos(omega * t) + 0.5 * std::sin(omega * t)) * point.u;
      const Eigen::VectorXd p = mass * omega * (0.5 * std::cos(omega * t) - std::sin(omega * t)) * point.u;
      EXPECT_LT((end.u - u).cwiseAbs().maxCoeff(), 5e-12);
      EXPECT_LT((end.p - p).cwiseAbs().maxCoeff(), 5e-12);
    }
  }
}

// The start is where the sites stand at rest, away from the equilibrium of the particle's own spring.
TEST(MpiExactStepper, DrivesAChainFromADisplacedStart) {
  Scene scene;
  scene.system = oscillator(2.0, 3.0, 1.5, -0.4);
  scene.lines = {{{{0, 1.0}}, {.mass = 0.6, .stiffness = 1.1}, 45},
                 {{{0, 1.0}}, {.mass = 0.9, .stiffness = 0.4, .far_end = FarEnd::free, .dashpot = 0.0}, 4}};
  Problem problem = make_problem(scene, test_world());
  const double start = problem.energies().total();
  EXPECT_FALSE(make_exact_stepper(problem, 0.7)->advance(23).has_value());

  // (u, p, 1)' with the constant force of the displaced spring.
  const DenseSystem dense(scene);
  const int n = dense.size();
  Eigen::MatrixXd motion = Eigen::MatrixXd::Zero(2 * n + 1, 2 * n + 1);
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(n);
  motion.block(0, n, n, n) = dense.mass.cwiseInverse().asDiagonal();
  motion.block(n, 0, n, n) = -dense.stiffness(rest);
  motion.block(n, 2 * n, n, 1) = dense.force(rest);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(2 * n + 1);
  x[n] = 2.0 * -0.4;
  x[2 * n] = 1.0;
  x = matrix_exponential(0.7 * 23 * motion) * x;
  const EnergyLedger ledger = problem.energies();
  const PhasePoint end = get_state(problem);
  EXPECT_LT((end.u - x.head(n)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((end.p - x.segment(n, n)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(ledger.total(), start, 1e-13 * start);
  EXPECT_GT(ledger.environment, 0.1);
}

TEST(MpiExactStepper, TranslatesFreeSystems) {
  Scene scene;
  scene.system = oscillator(2.0, 0.0, 0.0, 0.0);
  scene.lines = {{{{0, 1.0}}, {.mass = 0.5, .stiffness = 3.0, .far_end = FarEnd::free, .dashpot = 0.0}, 50}};
  Problem problem = make_problem(scene, test_world());
  PhasePoint point{Eigen::VectorXd::Zero(51), Eigen::VectorXd::Constant(51, 0.5 * 0.3)};
  point.p[0] = 2.0 * 0.3;
  set_state(problem, point);
  EXPECT_FALSE(make_exact_stepper(problem, 0.25)->advance(40).has_value());
  const PhasePoint end = get_state(problem);
  EXPECT_LT((end.u - Eigen::VectorXd::Constant(51, 3.0)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((end.p - point.p).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(MpiExactStepper, LinearParticleAloneOscillatesOrGrows) {
  for (const double stiffness : {4.0, 0.0, -4.0}) {
    Scene scene;
    scene.system = oscillator(1.0, stiffness, 1.0, 0.5);
    Problem problem = make_problem(scene, test_world());
    EXPECT_FALSE(make_exact_stepper(problem, 0.1)->advance(13).has_value());
    problem.broadcast_particles();
    const double t = 1.3;
    const double expected = stiffness > 0.0   ? std::cos(2.0 * t) + 0.25 * std::sin(2.0 * t)
                            : stiffness < 0.0 ? std::cosh(2.0 * t) + 0.25 * std::sinh(2.0 * t)
                                              : 1.0 + 0.5 * t;
    EXPECT_NEAR(problem.q[0], expected, 1e-13) << stiffness;
  }
}

// Under-, over- and critically damped; the particle has lost the energy that the damper has dissipated.
TEST(MpiExactStepper, DampedOscillatorHasItsClosedForm) {
  constexpr double m = 2.0, k = 8.0, q0 = 1.5, v0 = -0.7, h = 0.13;
  for (const double d : {0.3, 8.0, 30.0}) {
    SCOPED_TRACE(d);
    Scene scene;
    scene.system = oscillator(m, k, q0, v0);
    scene.damping = Eigen::MatrixXd::Constant(1, 1, d);
    Problem problem = make_problem(scene, test_world());
    const double start = problem.energies().total();
    const std::unique_ptr<Stepper> stepper = make_exact_stepper(problem, h);
    double t = 0.0;
    for (const int steps : {1, 4, 20}) {
      EXPECT_FALSE(stepper->advance(steps).has_value());
      t += steps * h;
      problem.broadcast_particles();
      const double decay = d / (2.0 * m), square = k / m - decay * decay;
      const double omega = std::sqrt(std::abs(square));
      const double c = square > 0.0 ? std::cos(omega * t) : std::cosh(omega * t);
      const double s = square == 0.0 ? t : (square > 0.0 ? std::sin(omega * t) : std::sinh(omega * t)) / omega;
      EXPECT_NEAR(problem.q[0], std::exp(-decay * t) * (q0 * c + (v0 + decay * q0) * s), 1e-13);
      const EnergyLedger ledger = problem.energies();
      EXPECT_NEAR(ledger.total(), start, 1e-13 * start);
      EXPECT_GT(ledger.dissipated, 0.0);
    }
  }
}

TEST(MpiExactStepper, MatchedEndIsADamper) {
  Scene scene;
  scene.system = oscillator(2.0, 3.0, 1.5, -0.4);
  scene.lines = {{{{0, 1.0}}, {.mass = 0.6, .stiffness = 1.1, .far_end = FarEnd::matched, .dashpot = 0.0}, 12}};
  Problem problem = make_problem(scene, test_world());
  const double start = problem.energies().total();
  EXPECT_FALSE(make_exact_stepper(problem, 0.5)->advance(60).has_value());
  const DenseSystem dense(scene);
  const int n = dense.size();
  Eigen::MatrixXd motion = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  motion.topRightCorner(n, n) = dense.mass.cwiseInverse().asDiagonal();
  motion.bottomLeftCorner(n, n) = -dense.stiffness(Eigen::VectorXd::Zero(n));
  motion.bottomRightCorner(n, n) = -dense.damping * Eigen::MatrixXd(dense.mass.cwiseInverse().asDiagonal());
  // Relative to the equilibrium all displacements start at 1.5, as the far end is matched.
  Eigen::VectorXd x = Eigen::VectorXd::Constant(2 * n, 1.5);
  x.tail(n).setZero();
  x[n] = 2.0 * -0.4;
  x = matrix_exponential(30.0 * motion) * x;
  const EnergyLedger ledger = problem.energies();
  const PhasePoint end = get_state(problem);
  EXPECT_LT((end.u.array() + 1.5 - x.head(n).array()).abs().maxCoeff(), 1e-10);
  EXPECT_LT((end.p - x.tail(n)).cwiseAbs().maxCoeff(), 1e-10);
  // The reference solver integrates the work as one more unknown.
  EXPECT_NEAR(ledger.total(), start, 1e-10 * start);
  EXPECT_GT(ledger.dissipated, 0.5 * start);
}

TEST(MpiExactStepper, NonlinearMotionWithALineConservesEnergy) {
  Scene scene;
  scene.system = oscillator(1.0, 1.0, 1.2, 0.3);
  scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Identity(1, 1), 2.0);
  scene.lines = {{{{0, 1.0}}, {.mass = 0.1, .stiffness = 10.0}, 50}};
  Problem problem = make_problem(scene, test_world());
  const double start = problem.energies().total();
  EXPECT_FALSE(make_exact_stepper(problem, 0.1)->advance(100).has_value());
  const EnergyLedger ledger = problem.energies();
  EXPECT_NEAR(ledger.total(), start, 1e-11 * start);
  EXPECT_GT(ledger.environment, 0.1 * start);
}

/// k q^2/2 + 5 exp(-100 (q - 2)^2), a narrow wall.
class WallPotential final : public Potential {
 public:
  double value(const Eigen::VectorXd& q) const override { return 0.5 * q[0] * q[0] + wall(q); }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    gradient = Eigen::VectorXd::Constant(1, q[0] - 200.0 * (q[0] - 2.0) * wall(q));
  }
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override {
    const double d = q[0] - 2.0;
    hessian = Eigen::MatrixXd::Constant(1, 1, 1.0 + wall(q) * (40000.0 * d * d - 200.0));
  }

 private:
  static double wall(const Eigen::VectorXd& q) { return 5.0 * std::exp(-100.0 * (q[0] - 2.0) * (q[0] - 2.0)); }
};

// Records decide how many steps are advanced at once.
TEST(MpiExactStepper, NonlinearMotionDoesNotDependOnTheNumberOfStepsAtOnce) {
  const auto end = [](std::int64_t at_once) {
    Scene scene;
    scene.system = oscillator(1.0, 1.0, -2.6, 0.3);
    scene.system.potential = std::make_shared<WallPotential>();
    scene.damping = Eigen::MatrixXd::Constant(1, 1, 0.01);
    Problem problem = make_problem(scene, test_world());
    const std::unique_ptr<Stepper> stepper = make_exact_stepper(problem, 0.05);
    for (std::int64_t step = 0; step < 240; step += at_once) EXPECT_FALSE(stepper->advance(at_once).has_value());
    const EnergyLedger ledger = problem.energies();
    problem.broadcast_particles();
    return Eigen::Vector3d(problem.q[0], problem.p[0], ledger.dissipated);
  };
  const Eigen::Vector3d by_one = end(1);
  for (const std::int64_t at_once : {3, 80, 240}) {
    EXPECT_LT((end(at_once) - by_one).cwiseAbs().maxCoeff(), 1e-11) << at_once;
  }
}

}  // namespace
}  // namespace bathline::exact_stepper_test
