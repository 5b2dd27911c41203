// Stability limits against the growth of runs.
#include "steppers/stability.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "steppers/stepper.hpp"
#include "dense_system.hpp"
#include "driven.hpp"
#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "typed_lagrangian.hpp"

namespace bathline::stability_test {
namespace {

/// The largest size of a run relative to its start; the run ends once growth is certain.
double growth(const Scene& scene, const Scheme& scheme, double h, int pieces) {
  Problem problem = make_problem(scene, test_world());
  RandomNumbers random(3);
  const PhasePoint start = random_point(scene.size(), 1.0, random);
  set_state(problem, start);
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
  double largest = 1.0;
  for (int piece = 0; piece < pieces && largest < 1e4; ++piece) {
    stepper->advance(50);
    const PhasePoint state = get_state(problem);
    // Frequencies are of order one to a hundred, so positions and momenta may be added up like this.
    const double size = (state.u.norm() + state.p.norm()) / (start.u.norm() + start.p.norm());
    largest = std::isfinite(size) ? std::max(largest, size) : std::numeric_limits<double>::infinity();
  }
  return largest;
}

Scene oscillator(double mass, double stiffness) {
  Scene scene;
  scene.system = make_particles(Eigen::VectorXd::Constant(1, mass),
                                std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Constant(1, 1, stiffness)));
  return scene;
}

struct Subject {
  std::string name;
  Scene scene;
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  const auto with_line = [](Scene scene, double mass, double stiffness, std::int64_t sites) {
    scene.lines = {{{{0, 1.0}}, {.mass = mass, .stiffness = stiffness}, sites}};
    return scene;
  };
  all.push_back({"heavy particle, short line", with_line(oscillator(5.0, 1.0), 1.0, 2.0, 10)});
  all.push_back({"heavy particle, long line", with_line(oscillator(5.0, 1.0), 1.0, 2.0, 400)});
  all.push_back({"light particle on a stiff line", with_line(oscillator(0.05, 1.0), 1.0, 2.0, 400)});
  all.push_back({"particle on a stiff spring of its own", with_line(oscillator(1.0, 50.0), 1.0, 2.0, 300)});
  {
    Scene scene = oscillator(1.0, 4.0);
    scene.damping = Eigen::MatrixXd::Constant(1, 1, 0.8);
    all.push_back({"damped oscillator", scene});
    scene.damping *= 20.0;
    all.push_back({"overdamped oscillator", scene});
  }
  {
    Scene scene;
    scene.system = make_particles(Eigen::VectorXd{{1.0, 3.0}},
                                  std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{5.0, -2.0}, {-2.0, 3.0}}));
    scene.damping = 1.5 * Eigen::MatrixXd{{1.0, -1.0}, {-1.0, 1.0}};
    all.push_back({"two particles, damped relative to each other", scene});
  }
  return all;
}

TEST(Stability, BelowTheLimitRunsStayBoundedAndAboveTheyGrow) {
  for (const MethodCase& method : method_cases()) {
    if (std::holds_alternative<ExactFlow>(method.scheme)) continue;
    for (const Subject& subject : subjects()) {
      SCOPED_TRACE(method.name + ", " + subject.name);
      const Problem problem = make_problem(subject.scene, test_world());
      const StabilityLimit limit = stability_limit(problem, *method.method, method.options);
      EXPECT_TRUE(limit.is_linear);
      if (limit.never_stable) {
        EXPECT_GT(growth(subject.scene, method.scheme, 0.1, 40), 1e3);
      } else if (std::isinf(limit.largest_step)) {
        EXPECT_LT(growth(subject.scene, method.scheme, 10.0, 40), 1e3);
      } else {
        ASSERT_GT(limit.largest_step, 0.0);
        EXPECT_LT(growth(subject.scene, method.scheme, 0.98 * limit.largest_step, 40), 1e3) << limit.largest_step;
        // Accurate methods have a narrow interval of slow growth there.
        bool grows = growth(subject.scene, method.scheme, 1.04 * limit.largest_step, 400) > 1e3;
        for (const double beyond : {1.002, 1.00012}) {
          grows = grows || growth(subject.scene, method.scheme, beyond * limit.largest_step, 3000) > 1e3;
        }
        EXPECT_TRUE(grows) << limit.largest_step;
      }
    }
  }
}

TEST(Stability, LimitOfALongLineIsTwoOverItsHighestFrequency) {
  for (const std::int64_t sites : {150, 201, 100000}) {
    Scene scene = oscillator(10.0, 1.0);
    scene.lines = {{{{0, 1.0}}, {.mass = 0.25, .stiffness = 4.0}, sites}};
    const Problem problem = make_problem(scene, test_world());
    const MethodCase& method = method_case("gamma(gamma=0.000000)");
    const StabilityLimit limit = stability_limit(problem, *method.method, method.options);
    // h sqrt(lambda/M) = 1, reached from above by lines of finite length.
    EXPECT_GE(limit.largest_step, 0.25 * (1.0 - 1e-12));
    EXPECT_LT(limit.largest_step, 0.25 * 1.0002);
  }
}

TEST(Stability, LightParticleLowersTheLimit) {
  Scene scene = oscillator(0.01, 0.0);
  scene.lines = {{{{0, 1.0}}, {.mass = 0.25, .stiffness = 4.0}, 1000}};
  const Problem problem = make_problem(scene, test_world());
  const MethodCase& method = method_case("gamma(gamma=0.000000)");
  // About sqrt(lambda/m) = 20 against the band's edge at 8.
  EXPECT_LT(stability_limit(problem, *method.method, method.options).largest_step, 2.0 / 19.0);
}

TEST(Stability, AnUnstableEquilibriumDoesNotLimitTheStep) {
  Scene scene = oscillator(1.0, -1.0);
  scene.damping = Eigen::MatrixXd::Constant(1, 1, 0.5);
  const Problem problem = make_problem(scene, test_world());
  const MethodCase& method = method_case("explicit-euler");
  const StabilityLimit limit = stability_limit(problem, *method.method, method.options);
  EXPECT_FALSE(limit.never_stable);
  EXPECT_TRUE(std::isinf(limit.largest_step));
}

// The centre of mass is free; its drift is not an instability.
TEST(Stability, FreeMotionsAreNoInstability) {
  for (int axes = 1; axes <= 3; ++axes) {
    Scene scene;
    scene.system.particles = 2;
    scene.system.axes = axes;
    scene.system.mass = Eigen::VectorXd::Constant(2 * axes, 0.7);
    scene.system.mass.head(axes).setConstant(1.9);
    Eigen::MatrixXd stiffness = 3.0 * Eigen::MatrixXd::Identity(2 * axes, 2 * axes);
    stiffness.topRightCorner(axes, axes).diagonal().setConstant(-3.0);
    stiffness.bottomLeftCorner(axes, axes).diagonal().setConstant(-3.0);
    scene.system.potential = std::make_shared<QuadraticPotential>(stiffness);
    scene.system.q0 = scene.system.v0 = Eigen::VectorXd::Zero(2 * axes);
    const double frequency = std::sqrt(3.0 / 1.9 + 3.0 / 0.7);
    const Problem problem = make_problem(scene, test_world());
    const auto limit = [&](const char* name) {
      const MethodCase& method = method_case(name);
      return stability_limit(problem, *method.method, method.options);
    };
    // Growth below the uncertainty of a double eigenvalue is not told, so that limits may be larger by that.
    EXPECT_NEAR(limit("gamma(gamma=0.000000)").largest_step, 2.0 / frequency, 4e-6);
    EXPECT_NEAR(limit("rk4").largest_step, std::sqrt(8.0) / frequency, 1e-6);
    EXPECT_TRUE(limit("explicit-euler").never_stable);
  }
}

// Motions that drift, and drift in a gyration, have eigenvalues that share an eigenvector; round-off splits them by its
// root. The oscillation beside them decides.
TEST(Stability, SplitEigenvaluesAreNoInstability) {
  struct Row {
    Eigen::MatrixXd by_q, by_v;  // of the force
    double frequency;
  };
  const Eigen::MatrixXd gyration{{0.0, 1.0}, {-1.0, 0.0}};
  const Row rows[] = {
      {Eigen::MatrixXd{{0.2, 0.0}, {0.0, 0.0}}, gyration, std::sqrt(0.8)},
      {Eigen::MatrixXd{{-0.3, 0.0}, {0.0, 0.0}}, 7.0 * gyration, std::sqrt(49.3)},
      {Eigen::MatrixXd::Zero(2, 2), gyration, 1.0},
      // x'' = 0, y'' = x: four eigenvalues.
      {Eigen::MatrixXd{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 0.0, -4.0}}, Eigen::MatrixXd::Zero(3, 3), 2.0},
  };
  for (const Row& row : rows) {
    for (const double angle : {0.0, 0.4}) {
      SCOPED_TRACE(testing::Message() << row.frequency << ", " << angle);
      const Eigen::Index n = row.by_q.rows();
      Eigen::MatrixXd turn = Eigen::MatrixXd::Identity(n, n);
      turn.topLeftCorner(2, 2) << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
      const Eigen::MatrixXd by_q = turn * row.by_q * turn.transpose(), by_v = turn * row.by_v * turn.transpose();
      Scene scene;
      scene.system =
          make_particles(Eigen::VectorXd::Ones(n), std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Zero(n, n)));
      scene.system.applied =
          std::make_shared<PlainForce>([=](const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                           double) -> Eigen::VectorXd { return by_q * q + by_v * v; },
                                       [=](const auto&...) { return by_q; }, [=](const auto&...) { return by_v; });
      const Problem problem = make_problem(scene, test_world());
      const auto limit = [&](const char* name) {
        const MethodCase& method = method_case(name);
        return stability_limit(problem, *method.method, method.options);
      };
      EXPECT_NEAR(limit("rk4").largest_step, std::sqrt(8.0) / row.frequency, 1e-6);
      EXPECT_GT(limit("stoermer-verlet(order_of_substeps=kick-drift-kick)").largest_step, 1.0 / row.frequency);
      EXPECT_TRUE(limit("explicit-euler").never_stable);
    }
  }
  Scene scene;
  scene.system =
      typed_system("(x_dot^2 + y_dot^2)/2 + x*y_dot", {"x", "y"}, Eigen::Vector2d(0.0, 0.0), Eigen::Vector2d(0.0, 1.0));
  const MethodCase& method = method_case("gamma(gamma=0.000000)");
  const StabilityLimit limit = stability_limit(make_problem(scene, test_world()), *method.method, method.options);
  EXPECT_FALSE(limit.never_stable);
  EXPECT_GT(limit.largest_step, 0.5);
}

// In other units of mass and time the limit is the same multiple of the unit of time.
TEST(Stability, LimitsScaleWithTheUnits) {
  for (const double mass : {1e-9, 1.0, 1e9}) {
    for (const double time : {1e-9, 1.0, 1e9}) {
      Scene scene;
      scene.system = make_particles(mass * Eigen::VectorXd{{1.0, 3.0}},
                                    std::make_shared<QuadraticPotential>(Eigen::MatrixXd(
                                        mass / (time * time) * Eigen::MatrixXd{{5.0, -2.0}, {-2.0, 3.0}})));
      const auto limit = [&](const char* name, double damping) {
        scene.damping = damping * mass / time * Eigen::MatrixXd{{1.0, -1.0}, {-1.0, 1.0}};
        const MethodCase& method = method_case(name);
        return stability_limit(make_problem(scene, test_world()), *method.method, method.options);
      };
      // The larger root s = omega^2 of (5 - s)(1 - s) = 4/3.
      const double highest = std::sqrt(3.0 + std::sqrt(4.0 + 4.0 / 3.0));
      EXPECT_NEAR(limit("rk4", 0.0).largest_step / time, std::sqrt(8.0) / highest, 1e-6) << mass << " " << time;
      EXPECT_TRUE(limit("explicit-euler", 0.0).never_stable) << mass << " " << time;
      EXPECT_FALSE(limit("explicit-euler", 1.5).never_stable) << mass << " " << time;
    }
  }
}

TEST(Stability, NonlinearProblemsAreJudgedAtTheirStart) {
  Scene scene = oscillator(1.0, 0.0);
  scene.system.q0 = Eigen::VectorXd::Constant(1, 2.0);
  scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Zero(1, 1), 3.0);
  const Problem problem = make_problem(scene, test_world());
  const MethodCase& method = method_case("rk4");
  const StabilityLimit limit = stability_limit(problem, *method.method, method.options);
  EXPECT_FALSE(limit.is_linear);
  EXPECT_NEAR(limit.largest_step, std::sqrt(8.0) / 6.0, 1e-6);  // omega^2 = 3 * 3 * 2^2
}

/// Particles in a row, each tied to the next and the outer ones to walls, by springs of stiffness 1.
Scene chain(int particles, const Eigen::VectorXd& damping) {
  Eigen::MatrixXd stiffness = Eigen::MatrixXd::Zero(particles, particles);
  stiffness.diagonal().setConstant(2.0);
  stiffness.diagonal(1).setConstant(-1.0);
  stiffness.diagonal(-1).setConstant(-1.0);
  Scene scene;
  scene.system = make_particles(Eigen::VectorXd::Ones(particles), std::make_shared<QuadraticPotential>(stiffness));
  scene.damping = damping.asDiagonal();
  return scene;
}

double highest_of_chain(int particles) { return 2.0 * std::cos(0.5 * M_PI / (particles + 1)); }

// All modes are damped alike, and the fastest is the first to become unstable. Its frequency is computed to round-off,
// for very many particles to 10^-4 of the range of the squares.
TEST(Stability, LimitOfManyParticlesIsThatOfTheirFastestMotion) {
  for (const char* name : {"gamma(gamma=0.000000)", "gamma(gamma=1.000000)",
                           "stoermer-verlet(order_of_substeps=kick-drift-kick)", "rk4"}) {
    const MethodCase& method = method_case(name);
    const auto limit = [&](const Scene& scene) {
      return stability_limit(make_problem(scene, test_world()), *method.method, method.options).largest_step;
    };
    for (const auto& [particles, exactness] : {std::pair(40, 1e-8), std::pair(1000, 2e-4)}) {
      SCOPED_TRACE(std::string(name) + ", " + std::to_string(particles));
      Scene fastest = oscillator(1.0, std::pow(highest_of_chain(particles), 2));
      fastest.damping = Eigen::MatrixXd::Constant(1, 1, 0.3);
      const double expected = limit(fastest);
      EXPECT_NEAR(limit(chain(particles, Eigen::VectorXd::Constant(particles, 0.3))), expected, exactness * expected);
    }
  }
}

TEST(Stability, LimitOfManyUnequallyDampedParticlesIsWhereTheyBeginToGrow) {
  RandomNumbers random(4);
  Eigen::VectorXd damping(40);
  for (double& c : damping) c = random.uniform(0.0, 1.5);
  const Scene scene = chain(40, damping);
  for (const char* name : {"gamma(gamma=0.000000)", "stoermer-verlet(order_of_substeps=kick-drift-kick)", "rk4"}) {
    SCOPED_TRACE(name);
    const MethodCase& method = method_case(name);
    const StabilityLimit limit = stability_limit(make_problem(scene, test_world()), *method.method, method.options);
    EXPECT_LT(growth(scene, method.scheme, 0.97 * limit.largest_step, 20), 1e3) << limit.largest_step;
    EXPECT_GT(growth(scene, method.scheme, 1.04 * limit.largest_step, 200), 1e3) << limit.largest_step;
  }
}

TEST(Stability, ClosedSystemsOfManyParticlesHaveTheLimitOfTheirHighestFrequency) {
  Scene scene = chain(1000, Eigen::VectorXd::Zero(1000));
  EXPECT_NEAR(particle_frequency(scene.system), highest_of_chain(1000), 1e-4 * 2.0);
  scene.lines = {{{{500, 1.0}}, {.mass = 0.5, .stiffness = 0.1}, 300}};
  const MethodCase& method = method_case("gamma(gamma=0.000000)");
  EXPECT_NEAR(stability_limit(make_problem(scene, test_world()), *method.method, method.options).largest_step, 1.0,
              1e-3);
}

// Every search ends, whatever the numbers are. Without a finite linearisation there is no limit.
TEST(Stability, EndsForNumbersThatAreNotFinite) {
  for (const double stiffness : {1e300, std::numeric_limits<double>::infinity(), std::nan("")}) {
    for (const int particles : {1, 30}) {
      Scene scene = chain(particles, Eigen::VectorXd::Constant(particles, 0.1));
      Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(particles, particles);
      matrix.diagonal().setConstant(stiffness);
      scene.system.potential = std::make_shared<QuadraticPotential>(matrix);
      const MethodCase& method = method_case("rk4");
      const StabilityLimit limit = stability_limit(make_problem(scene, test_world()), *method.method, method.options);
      if (!std::isfinite(stiffness)) {
        EXPECT_EQ(limit.largest_step, std::numeric_limits<double>::infinity()) << stiffness;
      }
    }
  }
}

// A coupled mass matrix in the coordinates a, b of the double pendulum near its rest: with w^2 = g (2 + sqrt 2) for the
// faster oscillation the limits are those of the method over w. They are those of a potential where masses are
// constant.
TEST(StabilityLimit, OfATypedLagrangianIsThatOfItsSecondDerivatives) {
  ParticleSystem pendulum = double_pendulum();
  pendulum.q0.setZero();
  pendulum.v0.setZero();
  const double fastest = std::sqrt(9.81 * (2.0 + std::sqrt(2.0)));
  EXPECT_NEAR(particle_frequency(pendulum), fastest, 1e-12 * fastest);
  const Problem problem(pendulum, Eigen::MatrixXd::Zero(2, 2), {}, test_world());
  for (const char* name : {"lobatto(stages=2)", "gamma(gamma=0.250000)", "rk4"}) {
    const MethodCase& method = method_case(name);
    const StabilityLimit limit = stability_limit(problem, *method.method, method.options);
    EXPECT_FALSE(limit.is_linear) << name;
    EXPECT_NEAR(limit.largest_step, method.properties.imaginary_axis_limit / fastest, 1e-4 * limit.largest_step)
        << name;
  }
  EXPECT_TRUE(stability_limit(problem, *method_case("explicit-euler").method, Section()).never_stable);
}

// Where the stiffness vanishes, its round-off limits no step: two horizontal rods, and one rod beside a bob that is
// free. Likewise the free motion of a charge along a field in a direction of its own.
TEST(StabilityLimit, HasNoLimitFromRoundOff) {
  ParticleSystem horizontal = double_pendulum();
  horizontal.q0 = Eigen::Vector2d(M_PI / 2, M_PI / 2);
  horizontal.v0.setZero();
  const ParticleSystem beside = typed_system("(a_dot^2 + x_dot^2 + a_dot*x_dot*sin(a))/2 + 9.81*cos(a)", {"a", "x"},
                                             Eigen::Vector2d(M_PI / 2, 0.3), Eigen::Vector2d(0.0, 0.2));
  const ParticleSystem along_field = typed_system(
      "(x_dot^2 + y_dot^2 + z1_dot^2)/2 + (0.3*(y*z1_dot - z1*y_dot) + 0.7*(z1*x_dot - x*z1_dot) + "
      "1.1*(x*y_dot - y*x_dot))/2",
      {"x", "y", "z1"}, Eigen::Vector3d(0.1, 0.2, 0.3), Eigen::Vector3d(0.4, -0.2, 0.6));
  for (const char* name : {"rk4", "lobatto(stages=2)", "gamma(gamma=0.250000)"}) {
    const MethodCase& method = method_case(name);
    for (const ParticleSystem& system : {horizontal, beside}) {
      const Problem problem(system, Eigen::MatrixXd::Zero(2, 2), {}, test_world());
      const StabilityLimit limit = stability_limit(problem, *method.method, method.options);
      EXPECT_FALSE(limit.never_stable) << name;
      EXPECT_GT(limit.largest_step, 1e3) << name;
    }
  }
  const Problem problem(along_field, Eigen::MatrixXd::Zero(3, 3), {}, test_world());
  const MethodCase& method = method_case("rk4");
  const StabilityLimit limit = stability_limit(problem, *method.method, method.options);
  EXPECT_NEAR(limit.largest_step, method.properties.imaginary_axis_limit / std::sqrt(0.09 + 0.49 + 1.21), 1e-6);
}

// x'' = -w^2 x + B y', y'' = -w^2 y - B x' rotates with the frequency sqrt(w^2 + B^2/4) + B/2 and a slower one.
TEST(StabilityLimit, OfATypedLagrangianIncludesItsGyroscopicForces) {
  const ParticleSystem charge = typed_system("(x_dot^2 + y_dot^2)/2 + 0.85*(x*y_dot - y*x_dot) - 0.72*(x^2 + y^2)",
                                             {"x", "y"}, Eigen::Vector2d(0.3, -0.1), Eigen::Vector2d(0.2, 0.4));
  const double fastest = std::sqrt(1.44 + 0.85 * 0.85) + 0.85;
  const Problem problem(charge, Eigen::MatrixXd::Zero(2, 2), {}, test_world());
  const MethodCase& method = method_case("rk4");
  const StabilityLimit limit = stability_limit(problem, *method.method, method.options);
  EXPECT_NEAR(limit.largest_step, method.properties.imaginary_axis_limit / fastest, 1e-8);
}

}  // namespace
}  // namespace bathline::stability_test
