// The exact flow against closed forms and against the exponential of the dense matrix of the whole system.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "steppers/stepper.hpp"
#include "dense_system.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "solve/linear_flow.hpp"

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

// Sites that are stiff against each other move with the particle, so that their masses add up; each frequency is known
// to the digits that its own springs give it, though their squares differ by 15 orders of magnitude. Two such particles
// keep frequencies of their own.
TEST(MpiExactStepper, SoftModesOfStiffSystemsKeepTheirDigits) {
  for (const double stiffness : {1e-6, 1e-10, 1e-16}) {
    SCOPED_TRACE(stiffness);
    const LineConstants line{.mass = 0.5, .stiffness = 1e4, .far_end = FarEnd::free, .dashpot = 0.0};
    Scene scene;
    scene.system = make_particles(
        Eigen::Vector2d(1.0, 2.0),
        std::make_shared<QuadraticPotential>(Eigen::MatrixXd(stiffness * Eigen::Vector2d(1.0, 3.0).asDiagonal())),
        Eigen::Vector2d(1.0, -2.0));
    scene.lines = {{{{0, 1.0}}, line, 4}, {{{1, 1.0}}, line, 8}};
    Problem problem = make_problem(scene, test_world());
    const double first = std::sqrt(stiffness / 3.0), second = std::sqrt(stiffness / 2.0);
    const double t = 1.3 / first;
    EXPECT_FALSE(make_exact_stepper(problem, 0.25 * t)->advance(4).has_value());
    if (!test_world().is_root()) continue;
    EXPECT_NEAR(problem.q[0], std::cos(first * t), 1e-8);
    EXPECT_NEAR(problem.q[1], -2.0 * std::cos(second * t), 1e-8);
  }
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

/// One step from (q, p) = (1, 0) in units of mass, step and kT: the covariance of its noise, and without noise the
/// energy that it dissipates, J. By the block exponential of vanloan1978 with 100 digits and more.
struct DampedStep {
  double damping, frequency;  ///< D h/m, w h
  double qq, qp, pp, dissipated;
};
constexpr DampedStep damped_steps[] = {
    {1e-4, 1e-4, 6.6661666766669444e-5, 9.9990000250008333e-5, 1.9998000066668333e-4, 3.3330833383334722e-21},
    {1e-4, 0.1, 6.6528471579731457e-5, 9.9657144664134447e-5, 1.9931474990306127e-4, 3.3264235789865729e-9},
    {1e-4, 1, 5.4531134963281677e-5, 7.0800261510549133e-5, 1.4545178534389227e-4, 2.7265567481640839e-5},
    {1e-4, 30, 1.1166995738478967e-7, 1.0845654160609308e-7, 9.9487027841360133e-5, 0.045226332740839818},
    {1e-4, 1000, 9.994850283798836e-11, 6.8366140499033482e-11, 1.0004149748850003e-4, 49.97425141899418},
    {0.1, 1e-4, 0.061891906462900384, 0.090559169758813522, 0.18126924633328044, 3.0945953231450192e-18},
    {0.1, 0.1, 0.061769279906642191, 0.090257758537298279, 0.1806816952752846, 3.0884639953321096e-6},
    {0.1, 1, 0.050719394010659959, 0.064126479603492473, 0.13319312195707165, 0.025359697005329979},
    {0.1, 30, 1.0624136554415737e-4, 9.814690045437166e-5, 0.09469812024829378, 43.027753045383737},
    {0.1, 1000, 9.5120502101918034e-8, 6.1866323346646495e-8, 0.095204655639530485, 47560.251050959017},
    {1, 1e-4, 0.33618248083639736, 0.39957639958348975, 0.8646647147118008, 1.6809124041819868e-17},
    {1, 0.1, 0.33557027664880427, 0.39826788595529164, 0.86261752893533568, 1.6778513832440213e-5},
    {1, 1, 0.28016578037581821, 0.28462992723914709, 0.69944541004215006, 0.14008289018790911},
    {1, 30, 7.0415683043073571e-4, 3.9965264197929014e-4, 0.63010031762747393, 285.18351632444796},
    {1, 1000, 6.3194934496462891e-7, 2.5148742032966629e-7, 0.63229152120506612, 3.1597467248231445e+5},
    {30, 1e-4, 0.063333333313938688, 0.033333333312586354, 0.99999999998888889, 3.1666666656969344e-18},
    {30, 0.1, 0.063313942100686465, 0.033312598830059958, 0.99998889567700724, 3.1656971050343233e-6},
    {30, 1, 0.061431580905269119, 0.031320453226796253, 0.99895482229065613, 0.030715790452634559},
    {30, 30, 0.0011111111111109086, 2.3392357608546909e-15, 0.99999999999992494, 449.99999999991798},
    {30, 1000, 9.9999999999990501e-7, 1.6155179805288757e-18, 0.99999999999990779, 4.9999999999995251e+5},
    {1000, 1e-4, 0.0019969999999800799, 9.9999999998004e-4, 0.99999999999999, 9.9849999999003995e-20},
    {1000, 0.1, 0.0019969800800223359, 9.9998004019900028e-4, 0.9999999900001995, 9.9849004001116794e-8},
    {1000, 1, 0.0019950093117068427, 9.9800598869527986e-4, 0.9999990019930133, 9.9750465585342137e-4},
    {1000, 30, 9.2724678082890397e-4, 1.656270960403996e-4, 0.99985080121358683, 375.53494623570611},
    {1000, 1000, 1.0e-6, 0.0, 1.0, 5.0e+5},
};

// Weak to strong friction and slow to fast oscillations, in two systems of units.
TEST(MpiExactStepper, NoiseAndWorkKeepTheirDigitsAtAnyFriction) {
  struct Units {
    double mass, time, energy;
  };
  for (const auto& [mass, time, energy] : {Units{1.0, 1.0, 1.0}, Units{3e-26, 2e-13, 4e-21}}) {
    for (const DampedStep& step : damped_steps) {
      SCOPED_TRACE(testing::Message() << step.damping << ", " << step.frequency << ", unit of mass " << mass);
      const double momentum = mass / time, stiffness = mass * step.frequency * step.frequency / (time * time);
      Scene scene;
      scene.system = oscillator(mass, stiffness, 1.0, 0.0);
      scene.damping = Eigen::MatrixXd::Constant(1, 1, step.damping * momentum);
      Problem cold = make_problem(scene, test_world());
      const double start = cold.energies().total(), unit = mass / (time * time);
      EXPECT_FALSE(make_exact_stepper(cold, time)->advance(1).has_value());
      const EnergyLedger ledger = cold.energies();
      // Fast oscillations have an error of their angle.
      const double exactness = 1e-14 * (10.0 + step.frequency);
      EXPECT_NEAR(ledger.dissipated, step.dissipated * unit, exactness * step.dissipated * unit);
      EXPECT_NEAR(ledger.total(), start, exactness * start);

      Problem warm = make_problem(scene, test_world());
      warm.add_noise(scene.damping * energy);
      std::size_t unit_number = 0;
      warm.noise()->set_source([&](std::int64_t, int, std::span<double> numbers) {
        std::fill(numbers.begin(), numbers.end(), 0.0);
        if (unit_number < numbers.size()) numbers[unit_number] = 1.0;
      });
      const std::unique_ptr<Stepper> stepper = make_exact_stepper(warm, time);
      Eigen::Matrix2d gain;
      for (; unit_number < 2; ++unit_number) {
        warm.q.setZero();
        warm.p.setZero();
        EXPECT_FALSE(stepper->advance(1).has_value());
        warm.broadcast_particles();
        gain.col(static_cast<Eigen::Index>(unit_number)) << warm.q, warm.p;
      }
      const Eigen::Matrix2d covariance = gain * gain.transpose();
      const double qq = step.qq * energy / unit, pp = step.pp * energy * mass;
      EXPECT_NEAR(covariance(0, 0), qq, exactness * qq);
      EXPECT_NEAR(covariance(1, 1), pp, exactness * pp);
      EXPECT_NEAR(covariance(0, 1), step.qp * energy * time, exactness * std::sqrt(qq * pp));
    }
  }
}

// Without a spring, p decays by e^-30 a step.
TEST(MpiExactStepper, FreeParticleKeepsTheDigitsOfItsDecay) {
  Scene scene;
  scene.system = oscillator(1.0, 0.0, 0.0, 1.0);
  scene.damping = Eigen::MatrixXd::Constant(1, 1, 30.0);
  Problem problem = make_problem(scene, test_world());
  EXPECT_FALSE(make_exact_stepper(problem, 1.0)->advance(5).has_value());
  problem.broadcast_particles();
  EXPECT_NEAR(problem.p[0], std::exp(-150.0), 1e-12 * std::exp(-150.0));
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
  for (const std::int64_t at_once : {3, 80, 240}) EXPECT_EQ(end(at_once), by_one) << at_once;
}

}  // namespace
}  // namespace bathline::exact_stepper_test
