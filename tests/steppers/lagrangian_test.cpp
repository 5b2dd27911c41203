// Lagrangians of any form: errors, structure and ledgers of the integrators that support them.
//
// Errors and end points of the double pendulum are those of a prototype in another language, whose references are two
// integrators that agree to 4e-14.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/stepper.hpp"
#include "differences.hpp"
#include "driven.hpp"
#include "lagrangian_steps.hpp"
#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "typed_lagrangian.hpp"

namespace bathline::lagrangian_test {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector4d;
using Eigen::VectorXd;

/// q and p after `steps` steps; fails the test where the steps do.
VectorXd advanced(Problem& problem, const Scheme& scheme, double h, std::int64_t steps) {
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
  const std::optional<Failure> failure = stepper->advance(steps);
  EXPECT_FALSE(failure) << failure->reason;
  VectorXd x(2 * problem.q.size());
  x << problem.q, problem.p;
  return x;
}

/// f_a = -0.1 a' - 0.05 (a' - b') + 2 sin 3t, f_b = -0.05 (b' - a').
std::shared_ptr<const Force> friction_and_drive() {
  const MatrixXd c{{0.15, -0.05}, {-0.05, 0.05}};
  return std::make_shared<PlainForce>(
      [c](const VectorXd&, const VectorXd& v, double t) -> VectorXd {
        return 2.0 * std::sin(3.0 * t) * VectorXd::Unit(2, 0) - c * v;
      },
      [](const VectorXd&, const VectorXd&, double) -> MatrixXd { return MatrixXd::Zero(2, 2); },
      [c](const VectorXd&, const VectorXd&, double) -> MatrixXd { return -c; });
}

const Vector4d free_end(-0.52263603081048, 0.29788340062739, 0.80451947053793, -2.2283375558594);
const Vector4d forced_end(-0.19292610693929, 0.11328905200198, 0.42733245250685, -1.8755477182505);
constexpr double forced_work = -2.8571583706274;

struct Row {
  std::string method;
  int per_second;
  double free, forced, ledger;  // errors; 0: not in the table
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.method << " with h = 1/" << row.per_second; }

class DoublePendulum : public testing::TestWithParam<Row> {};

TEST_P(DoublePendulum, HasTheErrorsOfThePrototype) {
  const Row& row = GetParam();
  Problem problem = problem_of(double_pendulum());
  const VectorXd x = advanced(problem, scheme_of(row.method), 1.0 / row.per_second, row.per_second);
  // Printed with four figures, and the reference with fourteen.
  EXPECT_NEAR((x - free_end).cwiseAbs().maxCoeff(), row.free, 6e-4 * row.free + 3e-13);
}

TEST_P(DoublePendulum, HasTheErrorsOfThePrototypeWithForcesAndTheirWork) {
  const Row& row = GetParam();
  if (row.forced == 0.0) GTEST_SKIP() << "the prototype ran this method without forces alone";
  ParticleSystem system = double_pendulum();
  system.applied = friction_and_drive();
  Problem problem = problem_of(system);
  const double before = problem.energies().total();
  const VectorXd x = advanced(problem, scheme_of(row.method), 1.0 / row.per_second, row.per_second);
  EXPECT_NEAR((x - forced_end).cwiseAbs().maxCoeff(), row.forced, 6e-4 * row.forced + 3e-13);
  EXPECT_NEAR(std::abs(problem.energies().total() - before), row.ledger, 0.08 * row.ledger + 3e-13);
  EXPECT_NEAR(problem.work, forced_work, 20.0 * row.forced);
}

INSTANTIATE_TEST_SUITE_P(Methods, DoublePendulum,
                         testing::Values(Row{"gamma(gamma=0.000000)", 40, 3.325e-2, 0.0, 0.0},
                                         Row{"gamma(gamma=0.000000)", 160, 8.189e-3, 0, 0},
                                         Row{"gamma(gamma=0.250000)", 160, 4.133e-3, 0, 0},
                                         Row{"gamma(gamma=0.500000)", 20, 8.599e-3, 0, 0},
                                         Row{"gamma(gamma=0.500000)", 40, 2.132e-3, 1.503e-3, 8.4e-4},
                                         Row{"gamma(gamma=0.500000)", 80, 5.325e-4, 3.753e-4, 2.0e-4},
                                         Row{"gamma(gamma=1.000000)", 160, 8.123e-3, 0, 0},
                                         Row{"lobatto(stages=2)", 40, 2.083e-3, 1.805e-3, 8.0e-3},
                                         Row{"lobatto(stages=2)", 80, 5.169e-4, 4.494e-4, 2.0e-3},
                                         Row{"lobatto(stages=3)", 40, 7.229e-6, 3.583e-6, 2.1e-5},
                                         Row{"lobatto(stages=3)", 80, 4.546e-7, 2.144e-7, 1.2e-6},
                                         Row{"lobatto(stages=4)", 40, 2.699e-8, 1.712e-8, 7.7e-8},
                                         Row{"lobatto(stages=4)", 80, 4.242e-10, 2.592e-10, 1.2e-9},
                                         Row{"gauss(stages=1)", 40, 2.132e-3, 1.503e-3, 8.4e-4},
                                         Row{"gauss(stages=2)", 40, 2.983e-6, 4.018e-6, 7.7e-6},
                                         Row{"gauss(stages=2)", 80, 1.857e-7, 2.506e-7, 4.6e-7},
                                         Row{"gauss(stages=3)", 40, 1.215e-8, 6.264e-9, 2.7e-8},
                                         Row{"gauss(stages=3)", 80, 1.917e-10, 9.888e-11, 3.9e-10}));

TEST(LagrangianExact, IsTheReferenceOfTheDoublePendulum) {
  Problem free = problem_of(double_pendulum());
  EXPECT_LT((advanced(free, ExactFlow{}, 0.1, 10) - free_end).cwiseAbs().maxCoeff(), 3e-12);
  ParticleSystem system = double_pendulum();
  system.applied = friction_and_drive();
  Problem forced = problem_of(system);
  EXPECT_LT((advanced(forced, ExactFlow{}, 0.1, 10) - forced_end).cwiseAbs().maxCoeff(), 3e-12);
  EXPECT_NEAR(forced.work, forced_work, 3e-12);
}

// p = t under a constant force, and (1 - e^{-t/5}) 5 with the action; velocities approach 1, beyond which Newton's
// method leaves the domain of L.
TEST(LagrangianExact, FollowsARelativisticParticleOverManyStepsAtOnce) {
  for (const int steps : {1, 10, 200}) {
    const double t = 0.1 * steps;
    Problem free = problem_of(typed_system("-sqrt(1 - x_dot^2) + x", {"x"}, VectorXd::Zero(1), VectorXd::Zero(1)));
    make_stepper(ExactFlow{}, free, 0.1)->advance(steps);
    EXPECT_NEAR(free.q[0], std::sqrt(1.0 + t * t) - 1.0, 1e-11) << steps;
    EXPECT_NEAR(free.velocity()[0], t / std::sqrt(1.0 + t * t), 1e-12) << steps;
    Problem damped =
        problem_of(typed_system("-sqrt(1 - x_dot^2) + x - z/5", {"x"}, VectorXd::Zero(1), VectorXd::Zero(1), 0.0));
    EXPECT_FALSE(make_stepper(ExactFlow{}, damped, 0.1)->advance(steps).has_value()) << steps;
    const double p = 5.0 * (1.0 - std::exp(-t / 5.0));
    EXPECT_NEAR(damped.p[0], p, 1e-11) << steps;
    EXPECT_NEAR(damped.velocity()[0], p / std::sqrt(1.0 + p * p), 1e-12) << steps;
  }
}

TEST(LagrangianExplicit, HasTheOrderOfTheMethod) {
  for (const auto& [method, order] :
       {std::pair("rk4", 4.0), std::pair("explicit-euler", 1.0), std::pair("implicit-euler", 1.0)}) {
    ParticleSystem system = double_pendulum();
    system.applied = friction_and_drive();
    const auto error = [&, method = method](int steps) {
      Problem problem = problem_of(system);
      return (advanced(problem, scheme_of(method), 1.0 / steps, steps) - forced_end).norm();
    };
    EXPECT_NEAR(std::log2(error(400) / error(800)), order, 0.1) << method;
  }
}

// Caldirola and Kanai: e^{0.3t} (v^2 - q^2)/2 is the damped oscillator, whose energy e^{0.3t} (v^2 + q^2)/2 is not
// kept.
TEST(LagrangianOfTime, IsFollowedWithItsWork) {
  const ParticleSystem system =
      typed_system("exp(0.3*t)*(x_dot^2 - x^2)/2", {"x"}, VectorXd::Ones(1), VectorXd::Constant(1, 0.3));
  const double q = 0.0167272978156622, v = -0.8070737121238;
  for (const auto& [method, order] :
       {std::pair("gamma(gamma=0.000000)", 1.0), std::pair("gamma(gamma=0.500000)", 2.0),
        std::pair("lobatto(stages=3)", 4.0), std::pair("gauss(stages=2)", 4.0), std::pair("rk4", 4.0)}) {
    const auto errors = [&, method = method](int steps) {
      Problem problem = problem_of(system);
      const double before = problem.energies().total();
      advanced(problem, scheme_of(method), 2.0 / steps, steps);
      return Vector2d(std::hypot(problem.q[0] - q, problem.velocity()[0] - v),
                      std::abs(problem.energies().total() - before));
    };
    const Vector2d coarse = errors(80), fine = errors(160);
    EXPECT_NEAR(std::log2(coarse[0] / fine[0]), order, 0.1) << method;
    EXPECT_NEAR(std::log2(coarse[1] / fine[1]), order, 0.15) << method;
  }
  Problem exact = problem_of(system);
  const double before = exact.energies().total();
  advanced(exact, ExactFlow{}, 0.5, 4);
  EXPECT_NEAR(exact.q[0], q, 1e-12);
  EXPECT_NEAR(exact.velocity()[0], v, 1e-12);
  EXPECT_NEAR(exact.energies().total(), before, 1e-12);
}

class LagrangianMethods : public testing::TestWithParam<std::string> {};

// By differences of order 4 whose own errors are 1e-11.
TEST_P(LagrangianMethods, AreSymplectic) {
  const ParticleSystem system = typed_system(
      "(1 + x^2/2)*x_dot^2/2 + (1.5 + sin(x*y))*y_dot^2/2 + 0.3*x_dot*y_dot*cos(y) + 0.4*(x*y_dot - y^2*x_dot) - "
      "x^2*y^2 - cos(x)",
      {"x", "y"}, Vector2d(0.4, 0.7), Vector2d(0.3, -0.2));
  Problem start = problem_of(system);
  VectorXd x(4);
  x << start.q, start.p;
  const auto step = [&](const VectorXd& point) {
    Problem problem = problem_of(system);
    problem.q = point.head(2);
    problem.p = point.tail(2);
    return advanced(problem, scheme_of(GetParam()), 0.1, 1);
  };
  constexpr double increment = 2e-3;
  MatrixXd jacobian(4, 4), omega = MatrixXd::Zero(4, 4);
  for (int i = 0; i < 4; ++i) {
    const VectorXd e = increment * VectorXd::Unit(4, i);
    jacobian.col(i) =
        (8.0 * (step(x + e) - step(x - e)) - (step(x + 2.0 * e) - step(x - 2.0 * e))) / (12.0 * increment);
  }
  omega.topRightCorner(2, 2).setIdentity();
  omega.bottomLeftCorner(2, 2) = -MatrixXd::Identity(2, 2);
  EXPECT_LT((jacobian.transpose() * omega * jacobian - omega).cwiseAbs().maxCoeff(), 1e-9);
}

TEST_P(LagrangianMethods, KeepTheMomentumOfASymmetry) {
  const ParticleSystem plane = typed_system(
      "(1 + (x^2 + y^2)/2)*(x_dot^2 + y_dot^2)/2 + 0.3*(x^2 + y^2)*(x*y_dot - y*x_dot) - (x^2 + y^2) - 1/sqrt(x^2 + "
      "y^2)",
      {"x", "y"}, Vector2d(1.0, 0.2), Vector2d(-0.3, 0.8));
  Problem problem = problem_of(plane);
  const auto momentum = [&] { return problem.q[0] * problem.p[1] - problem.q[1] * problem.p[0]; };
  const double before = momentum();
  advanced(problem, scheme_of(GetParam()), 0.05, 400);
  EXPECT_NEAR(momentum(), before, 1e-13);
  // The azimuth of a spherical pendulum is a coordinate, and its momentum is conserved to the last bit.
  Problem sphere = problem_of(typed_system("(theta_dot^2 + sin(theta)^2*phi_dot^2)/2 + cos(theta)", {"theta", "phi"},
                                           Vector2d(0.9, 0.0), Vector2d(0.1, 0.7)));
  const double angular_momentum = sphere.p[1];
  advanced(sphere, scheme_of(GetParam()), 0.05, 400);
  EXPECT_EQ(sphere.p[1], angular_momentum);
}

// Masses and potentials are one form of a Lagrangian: the same numbers in either form, with damping and with an
// environment.
TEST_P(LagrangianMethods, AreThemselvesOnNaturalSystems) {
  ParticleSystem natural =
      make_particles(Vector2d(1.3, 0.7), std::make_shared<QuarticPotential>(MatrixXd{{2.0, 0.5}, {0.5, 1.0}}, 0.8),
                     Vector2d(0.9, -0.3), Vector2d(0.2, 0.5));
  const auto value = natural.potential->value(Vector2d(0.6, 0.9));
  const ParticleSystem typed = typed_system("0.65*x_dot^2 + 0.35*y_dot^2 - (2*x^2 + x*y + y^2)/2 - 0.8*(x^4 + y^4)/4",
                                            {"x", "y"}, natural.q0, natural.v0);
  VectorXd point(5);
  point << 0.6, 0.9, 0.0, 0.0, 0.0;
  ASSERT_NEAR(typed.lagrangian->value(point.data()), -value, 1e-15) << "another potential than the tests have";
  for (const bool is_closed : {false, true}) {
    const auto end = [&](const ParticleSystem& system) {
      Scene scene;
      scene.system = system;
      if (is_closed) {
        scene.lines = {
            {{{0, 1.0}, {1, -1.0}}, {.mass = 0.3, .stiffness = 1.2, .far_end = FarEnd::matched, .dashpot = 0.0}, 30}};
      } else {
        scene.damping = MatrixXd{{0.3, 0.1}, {0.1, 0.2}};
      }
      Problem problem = make_problem(scene, self_world());
      VectorXd result(6);
      result.head(4) = advanced(problem, scheme_of(GetParam()), 0.1, 50);
      const EnergyLedger ledger = problem.energies();
      result.tail(2) << ledger.particles, ledger.dissipated;
      return result;
    };
    EXPECT_LT((end(typed) - end(natural)).cwiseAbs().maxCoeff(), 2e-13) << is_closed;
  }
}

INSTANTIATE_TEST_SUITE_P(Some, LagrangianMethods,
                         testing::Values("gamma(gamma=0.250000)", "gamma(gamma=0.500000)", "lobatto(stages=2)",
                                         "lobatto(stages=3)", "gauss(stages=2)", "gauss(stages=3)"),
                         [](const auto& info) { return "method" + std::to_string(info.index); });

// Chaotic, from rest; the prototype finds tenths of a run of 1e5 steps between 1.9e-4 and 2.8e-4, without a trend.
TEST(LagrangianEnergy, HasNoDriftOverManySteps) {
  ParticleSystem system = double_pendulum();
  system.q0 = Vector2d(2.0, 2.5);
  system.v0.setZero();
  Problem problem = problem_of(system);
  const double before = problem.energies().total();
  EXPECT_NEAR(before, 16.024019801570, 1e-12);
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme_of("gauss(stages=2)"), problem, 0.01);
  for (int tenth = 0; tenth < 10; ++tenth) {
    double max_deviation = 0.0, mean = 0.0;
    for (int i = 0; i < 1000; ++i) {
      ASSERT_FALSE(stepper->advance(10));
      const double deviation = problem.energies().total() - before;
      max_deviation = std::max(max_deviation, std::abs(deviation));
      mean += deviation / 1000.0;
    }
    EXPECT_LT(max_deviation, 4e-4) << tenth;
    EXPECT_LT(std::abs(mean), 6e-6) << tenth;
  }
}

TEST(LagrangianPetsc, SolvesTheSameStages) {
  for (const ParticleSystem& system : {double_pendulum()}) {
    Problem own = problem_of(system), petsc = problem_of(system);
    const VectorXd expected = advanced(own, scheme_of("gauss(stages=2)"), 0.02, 50);
    const PetscOptionsScope options({{"-snes_max_it", "40"}, {"-snes_rtol", "1e-14"}});
    EXPECT_LT((advanced(petsc, scheme_of("gauss(stages=2)"), 0.02, 50) - expected).cwiseAbs().maxCoeff(), 1e-12);
  }
}

// Two masses that become negative together leave the sign of the determinant alone.
TEST(LagrangianDegenerate, IsFoundWhereTwoMassesChangeSign) {
  const ParticleSystem two_masses =
      typed_system("(0.55 - t)*(x_dot^2 + y_dot^2)/2", {"x", "y"}, Vector2d(0.0, 0.0), Vector2d(0.0, 0.0));
  const ParticleSystem three_masses = typed_system("(w_dot^2 + w*(x_dot^2 + y_dot^2))/2", {"w", "x", "y"},
                                                   Eigen::Vector3d(0.55, 0.0, 0.0), Eigen::Vector3d(-1.0, 0.0, 0.0));
  for (const ParticleSystem& system : {two_masses, three_masses}) {
    for (const char* method : {"gauss(stages=2)", "lobatto(stages=4)", "gamma(gamma=0.500000)", "rk4"}) {
      Problem problem = problem_of(system);
      const std::optional<Failure> failure = make_stepper(scheme_of(method), problem, 0.1)->advance(100);
      ASSERT_TRUE(failure.has_value()) << method;
      EXPECT_EQ(failure->step, 6) << method;
      EXPECT_THAT(failure->reason, testing::StartsWith("the Lagrangian is degenerate at t = ")) << method;
    }
  }
}

// d2L/dv2 = diag(1, x) is singular at x = 0. A motion with y' = 0 is regular there, and every iteration converges.
TEST(LagrangianDegenerate, IsFoundDuringARun) {
  for (const char* method : {"gauss(stages=2)", "lobatto(stages=4)", "gamma(gamma=0.500000)", "rk4"}) {
    Problem problem =
        problem_of(typed_system("(x_dot^2 + x*y_dot^2)/2", {"x", "y"}, Vector2d(0.55, 0.0), Vector2d(-1.0, 0.0)));
    const std::unique_ptr<Stepper> stepper = make_stepper(scheme_of(method), problem, 0.1);
    const std::optional<Failure> failure = stepper->advance(100);
    ASSERT_TRUE(failure.has_value()) << method;
    EXPECT_EQ(failure->step, 6) << method;
    EXPECT_THAT(failure->reason, testing::StartsWith("the Lagrangian is degenerate at t = ")) << method;
  }
}

// A pendulum on a cart from which a line on its characteristic grid takes momentum: with gamma = 0 for everything the
// line is equivalent to the damper until the echo, in step 2 (N + 1).
TEST(LagrangianOnALine, ObeysTheReducedSchemeUntilTheEcho) {
  constexpr double h = 0.02, damping = 0.8;
  constexpr int sites = 100;
  Scene closed;
  closed.system = typed_system("1.5*X_dot^2/2 + 0.35*X_dot*th_dot*cos(th) + 0.245*th_dot^2/2 + 3.4335*cos(th) - 2*X^2",
                               {"X", "th"}, Vector2d(0.3, 1.2), Vector2d(0.5, -0.4));
  Scene open = closed;
  open.damping = MatrixXd{{damping, 0.0}, {0.0, 0.0}};
  closed.lines = {{{{0, 1.0}}, {.mass = damping * h, .stiffness = damping / h}, sites}};
  Problem line = make_problem(closed, self_world()), reduced = make_problem(open, self_world());
  const Scheme scheme = one_stage(1.0, 0.0);
  const std::unique_ptr<Stepper> line_stepper = make_stepper(scheme, line, h),
                                 open_stepper = make_stepper(scheme, reduced, h);
  for (int step = 1; step <= 2 * (sites + 1) + 10; ++step) {
    ASSERT_FALSE(line_stepper->advance(1));
    ASSERT_FALSE(open_stepper->advance(1));
    const double difference = (line.q - reduced.q).norm() + (line.p - reduced.p).norm();
    if (step < 2 * (sites + 1)) {
      EXPECT_LT(difference, 1e-12) << step;
    } else if (step == 2 * (sites + 1) + 10) {
      EXPECT_GT(difference, 1e-6);
    }
  }
}

}  // namespace
}  // namespace bathline::lagrangian_test
