// A line without end against closed lines that are too long for an echo: paths, energies, forces, restarts, ranks, and
// what is refused.
#include "model/semi_infinite_line/semi_infinite_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/stability.hpp"
#include "steppers/stepper.hpp"
#include "attracting_centre.hpp"
#include "method_cases.hpp"
#include "model/line/line.hpp"
#include "model/problem.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"

namespace bathline::infinite_line_test {
namespace {

constexpr double line_mass = 0.37;

/// Some particles, and what a line on them hangs on.
struct Scene {
  const char* name;
  ParticleSystem system;
  Attachment attachment;
};

Scene double_well() {
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Constant(1, 1.3);
  system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, -1.1), 0.8);
  system.q0 = Eigen::VectorXd::Constant(1, 2.1);
  system.v0 = Eigen::VectorXd::Constant(1, -0.7);
  return {"double well", system, Attachment({{0, 1.0}}, 1)};
}

Scene planet() {
  ParticleSystem system;
  system.particles = 1;
  system.axes = 2;
  system.mass = Eigen::VectorXd::Constant(2, 1.0);
  system.potential = std::make_shared<AttractingCentre>();
  system.q0 = Eigen::VectorXd{{8.0, 0.0}};
  system.v0 = Eigen::VectorXd{{0.1, 0.4}};
  return {"planet", system, Attachment({{0, 1.0}}, 2)};
}

Scene two_oscillators() {
  ParticleSystem system;
  system.particles = 2;
  system.mass = Eigen::VectorXd{{1.0, 2.5}};
  system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd{{1.7, 0.0}, {0.0, 0.6}}, 0.0);
  system.q0 = Eigen::VectorXd{{1.5, -0.4}};
  system.v0 = Eigen::VectorXd{{0.3, 0.8}};
  return {"two oscillators", system, Attachment({{0, 1.0}, {1, -1.0}}, 1)};
}

constexpr double h = 0.05;

/// lambda with which h sqrt(lambda/M) is the Courant number.
double stiffness_for(double courant) { return line_mass * courant * courant / (h * h); }

std::unique_ptr<Environment> endless(const Scene& scene, double courant, int steps, double tolerance = 1e-12,
                                     double horizon = 0.0) {
  return std::make_unique<SemiInfiniteLine>("endless", scene.attachment,
                                            SemiInfiniteLineOptions{.mass = line_mass,
                                                                    .stiffness = stiffness_for(courant),
                                                                    .tolerance = tolerance,
                                                                    .horizon = horizon > 0.0 ? horizon : steps * h,
                                                                    .step = h,
                                                                    .end = steps * h},
                                            test_world());
}

std::unique_ptr<Environment> long_line(const Scene& scene, double courant, std::int64_t sites) {
  const LineConstants constants{.mass = line_mass, .stiffness = stiffness_for(courant)};
  return std::make_unique<Line>("long", scene.attachment, constants, sites, test_world());
}

Problem around(const Scene& scene, std::unique_ptr<Environment> environment) {
  std::vector<std::unique_ptr<Environment>> all;
  all.push_back(std::move(environment));
  const auto size = scene.system.size();
  Problem problem(scene.system, Eigen::MatrixXd::Zero(size, size), std::move(all), test_world());
  problem.prepare();
  return problem;
}

/// Largest distance of the paths, positions and velocities, over their largest size.
double distance(const Scene& scene, const Scheme& scheme, double courant, int steps, std::int64_t sites) {
  Problem one = around(scene, endless(scene, courant, steps)), other = around(scene, long_line(scene, courant, sites));
  EXPECT_FALSE(one.environments().front()->unsupported_reason(scheme))
      << *one.environments().front()->unsupported_reason(scheme);
  const auto stepper = make_stepper(scheme, one, h), reference = make_stepper(scheme, other, h);
  double apart = 0.0, size = 0.0;
  for (int step = 0; step < steps; step += 10) {
    EXPECT_FALSE(stepper->advance(10));
    EXPECT_FALSE(reference->advance(10));
    one.broadcast_particles();
    other.broadcast_particles();
    apart = std::max({apart, (one.q - other.q).cwiseAbs().maxCoeff(), (one.p - other.p).cwiseAbs().maxCoeff()});
    size = std::max({size, other.q.cwiseAbs().maxCoeff(), other.p.cwiseAbs().maxCoeff()});
  }
  return apart / size;
}

Scheme gamma(double g) {
  if (g == 0.0) return splitting({{Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 1.0}});
  if (g == 1.0) return splitting({{Substep::Kind::kick, 1.0, true}, {Substep::Kind::drift, 1.0}});
  return one_stage(1.0 - g, g);
}

/// What a kernel that is right to 1e-12 of its sum, times what particles make of that, may come to.
constexpr double bound = 1e-11;

TEST(MpiInfiniteLine, KicksAndDriftsFollowTheLongLine) {
  for (const Scene& scene : {double_well(), planet(), two_oscillators()}) {
    for (const double courant : {0.05, 0.31, 0.77, 0.99, 1.0}) {
      for (const char* name :
           {"gamma(gamma=0.000000)", "gamma(gamma=1.000000)", "stoermer-verlet(order_of_substeps=kick-drift-kick)",
            "stoermer-verlet(order_of_substeps=drift-kick-drift)"}) {
        const double apart = distance(scene, method_case(name).scheme, courant, 1200, 700);
        EXPECT_LT(apart, bound) << scene.name << " " << courant << " " << name;
      }
    }
  }
}

TEST(MpiInfiniteLine, EveryGammaFollowsTheLongLine) {
  for (const Scene& scene : {double_well(), planet(), two_oscillators()}) {
    for (const double g : {0.07, 0.3, 0.45, 0.501, 0.66, 0.9}) {
      const double edge = 1.0 / std::abs(1.0 - 2.0 * g);
      for (const double courant : {0.05, 0.5, std::min(0.97 * edge, 3.0), std::min(edge, 2.0)}) {
        const double apart = distance(scene, gamma(g), courant, 400, 900);
        EXPECT_LT(apart, bound) << scene.name << " g = " << g << ", c = " << courant;
      }
    }
  }
}

TEST(MpiInfiniteLine, CompositionsFollowTheLongLine) {
  for (const Scene& scene : {double_well(), planet(), two_oscillators()}) {
    for (const char* name : {"yoshida4", "suzuki4", "kahan-li6", "blanes-moan4", "blanes-moan-rkn6"}) {
      const Scheme& scheme = method_case(name).scheme;
      const double edge = max_courant(*kick_drift_sequence_of(std::get<ExplicitScheme>(scheme)));
      for (const double courant : {0.05, 0.3, 0.7 * edge, 0.97 * edge}) {
        const double apart = distance(scene, scheme, courant, 300, 1200);
        EXPECT_LT(apart, bound) << scene.name << " " << name << ", c = " << courant;
      }
    }
  }
}

TEST(MpiInfiniteLine, RungeKuttaMethodsFollowTheLongLine) {
  for (const Scene& scene : {double_well(), planet(), two_oscillators()}) {
    for (const char* name : {"gamma(gamma=0.500000)", "time-centred", "implicit-euler", "gauss(stages=1)",
                             "gauss(stages=2)", "gauss(stages=3)", "gauss(stages=4)", "lobatto(stages=2)"}) {
      const bool is_explicit = std::string(name).starts_with("lobatto");
      for (const double courant : {0.05, 0.4, 1.0, is_explicit ? 0.8 : 3.0}) {
        const double apart = distance(scene, method_case(name).scheme, courant, 300, 1200);
        EXPECT_LT(apart, bound) << scene.name << " " << name << ", c = " << courant;
      }
    }
  }
}

// Lagrangians of any form take the ends of the gamma family as schemes of one stage.
TEST(MpiInfiniteLine, EndsOfTheGammaFamilyAsStages) {
  const Scene scene = double_well();
  for (const double g : {0.0, 1.0}) {
    EXPECT_LT(distance(scene, one_stage(1.0 - g, g), 0.6, 500, 400), bound) << g;
  }
}

/// Kinetic energy at half steps and potential energy between them, sum lambda/2 ext ext+, of a long line.
double staggered_energy(Problem& problem, double stiffness, double next_head) {
  std::vector<double> w, p;
  Environment& line = *problem.environments().front();
  line.gather_state(w, p);
  double energy = 0.0, before = 0.0, next_before = 0.0;
  for (std::size_t j = 0; j <= w.size(); ++j) {
    const double here = j < w.size() ? w[j] : 0.0, next = j < w.size() ? w[j] + h / line_mass * p[j] : 0.0;
    if (j == 0) {
      std::vector<double> head(1);
      problem.head(line, problem.q, head);
      before = head[0];
      next_before = next_head;
    }
    energy += 0.5 * stiffness * (here - before) * (next - next_before);
    if (j < w.size()) energy += 0.5 * p[j] * p[j] / line_mass;
    before = here;
    next_before = next;
  }
  return energy;
}

TEST(MpiInfiniteLine, WorkOfTheHeadIsTheStaggeredEnergyOfTheLine) {
  constexpr double courant = 0.63;
  const Scene scene = double_well();
  Problem one = around(scene, endless(scene, courant, 900)), other = around(scene, long_line(scene, courant, 400));
  const auto stepper = make_stepper(gamma(0.0), one, h), reference = make_stepper(gamma(0.0), other, h);
  for (int record = 0; record < 90; ++record) {
    EXPECT_FALSE(stepper->advance(10));
    EXPECT_FALSE(reference->advance(10));
    one.broadcast_particles();
    other.broadcast_particles();
    const EnergyLedger ledger = one.energies();
    EXPECT_EQ(ledger.interaction, 0.0);
    // The ledger stands at the kick, the staggered energy half a step behind it.
    std::vector<double> force(1), head(1);
    const double velocity = one.p[0] / scene.system.mass[0];
    one.head(*one.environments().front(), one.q, head);
    if (test_world().is_root()) one.environments().front()->force(head, force);
    const double staggered = staggered_energy(other, stiffness_for(courant), head[0] + h * velocity);
    if (!test_world().is_root()) continue;
    EXPECT_NEAR(ledger.environment - 0.5 * h * force[0] * velocity, staggered,
                1e-12 * std::max(1.0, std::abs(staggered)));
  }
}

TEST(MpiInfiniteLine, LedgersOfImplicitSchemesAreThoseOfTheLongLine) {
  for (const char* name : {"gamma(gamma=0.500000)", "gauss(stages=2)", "gauss(stages=3)"}) {
    const Scene scene = double_well();
    Problem one = around(scene, endless(scene, 0.9, 300)), other = around(scene, long_line(scene, 0.9, 600));
    EXPECT_FALSE(make_stepper(method_case(name).scheme, one, h)->advance(300));
    EXPECT_FALSE(make_stepper(method_case(name).scheme, other, h)->advance(300));
    const EnergyLedger found = one.energies(), expected = other.energies();
    EXPECT_NEAR(found.environment, expected.environment + expected.interaction, 1e-11 * expected.environment) << name;
  }
}

/// Forces on the head between two steps, those that the records show.
TEST(MpiInfiniteLine, ForcesBetweenStepsAreThoseOfTheLongLine) {
  const Scene scene = double_well();
  std::vector<Scheme> schemes = {gamma(0.0), gamma(0.2), gamma(0.5), gamma(0.8), gamma(1.0)};
  for (const char* name :
       {"stoermer-verlet(order_of_substeps=drift-kick-drift)", "gauss(stages=3)", "lobatto(stages=2)",
        "stoermer-verlet(order_of_substeps=kick-drift-kick)", "suzuki4", "blanes-moan-rkn6"}) {
    schemes.push_back(method_case(name).scheme);
  }
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    Problem one = around(scene, endless(scene, 0.7, 200)), other = around(scene, long_line(scene, 0.7, 500));
    const auto stepper = make_stepper(schemes[i], one, h), reference = make_stepper(schemes[i], other, h);
    for (int step = 0; step < 200; ++step) {
      EXPECT_FALSE(stepper->advance(1));
      EXPECT_FALSE(reference->advance(1));
      if (!test_world().is_root()) continue;
      std::vector<double> head(1), found(1), expected(1);
      one.head(*one.environments().front(), one.q, head);
      one.environments().front()->force(head, found);
      other.head(*other.environments().front(), other.q, head);
      other.environments().front()->force(head, expected);
      ASSERT_NEAR(found[0], expected[0], 1e-9) << i << " at step " << step;
    }
  }
}

/// A head that is held away from where the line rests feels the kernel.
TEST(MpiInfiniteLine, HeldHeadFeelsTheKernel) {
  Scene scene = double_well();
  scene.system.mass.setConstant(1e100);
  scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Zero(1, 1), 0.0);
  scene.system.v0.setZero();
  std::vector<Scheme> schemes;
  std::vector<double> bounds;
  for (const double g : {0.0, 0.07, 0.25, 0.45, 0.48, 0.5, 0.501, 0.66, 0.9, 1.0}) {
    schemes.push_back(gamma(g));
    // 1e-12 of the sum of 1.6/c. Next to g = 1/2 the kernel of stages is that of velocities over (1-g) + g z, and that
    // between steps once more over g + (1-g) z: both have a pole 1 - 2 g from the unit circle.
    const double pole = g == 0.5 ? 1.0 : 1.0 - 2.0 * g;
    bounds.push_back(std::max(bound, 1e-12 * 1.6 / 0.7 * 2.0 / (pole * pole)));
  }
  schemes.push_back(one_stage(0.0, 1.0));
  for (const char* name :
       {"stoermer-verlet(order_of_substeps=drift-kick-drift)", "gauss(stages=2)", "lobatto(stages=2)",
        "stoermer-verlet(order_of_substeps=kick-drift-kick)", "suzuki4", "blanes-moan-rkn6"}) {
    schemes.push_back(method_case(name).scheme);
  }
  bounds.resize(schemes.size(), bound);
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    Problem one = around(scene, endless(scene, 0.7, 100)), other = around(scene, long_line(scene, 0.7, 300));
    one.q[0] += 1.0;
    other.q[0] += 1.0;
    const auto stepper = make_stepper(schemes[i], one, h), reference = make_stepper(schemes[i], other, h);
    for (int step = 0; step < 100; ++step) {
      std::vector<double> found(1), expected(1);
      const std::vector<double> head = {1.0};
      if (test_world().is_root()) {
        one.environments().front()->force(head, found);
        other.environments().front()->force(head, expected);
        ASSERT_NEAR(found[0], expected[0], bounds[i] * stiffness_for(0.7)) << i << " at step " << step;
      }
      EXPECT_FALSE(stepper->advance(1));
      EXPECT_FALSE(reference->advance(1));
    }
  }
}

// In every step of a block.
TEST(MpiInfiniteLine, StateIsAllThatTheNextStepsDependOn) {
  for (const char* name : {"gamma(gamma=0.000000)", "gamma(gamma=0.250000)", "gauss(stages=2)", "lobatto(stages=2)",
                           "stoermer-verlet(order_of_substeps=drift-kick-drift)", "yoshida4", "blanes-moan-rkn6"}) {
    const Scene scene = planet();
    const Scheme& scheme = method_case(name).scheme;
    Problem whole = around(scene, endless(scene, 0.3, 400)), begun = around(scene, endless(scene, 0.3, 400));
    EXPECT_FALSE(make_stepper(scheme, whole, h)->advance(400));
    const auto beginner = make_stepper(scheme, begun, h);
    EXPECT_FALSE(beginner->advance(136));
    for (int step = 137; step <= 144; ++step) {
      EXPECT_FALSE(beginner->advance(1));
      Problem resumed = around(scene, endless(scene, 0.3, 400));
      const auto stepper = make_stepper(scheme, resumed, h);
      resumed.q = begun.q;
      resumed.p = begun.p;
      const std::vector<StateField> from = begun.environments().front()->fields();
      std::vector<StateField> to = resumed.environments().front()->fields();
      ASSERT_EQ(from.size(), to.size());
      for (std::size_t i = 0; i < from.size(); ++i) {
        ASSERT_EQ(from[i].total, to[i].total);
        ASSERT_EQ(from[i].values.size(), to[i].values.size());
        std::copy(from[i].values.begin(), from[i].values.end(), to[i].values.begin());
      }
      EXPECT_FALSE(stepper->advance(400 - step));
      EXPECT_EQ(resumed.q, whole.q) << name << " from step " << step;
      EXPECT_EQ(resumed.p, whole.p) << name << " from step " << step;
      EXPECT_EQ(resumed.energies().environment, whole.energies().environment) << name << " from step " << step;
    }
  }
}

// A light particle vibrates above the band, where the line takes no energy: what error there is would show.
TEST(MpiInfiniteLine, NothingGrowsForEver) {
  Scene scene = double_well();
  scene.system.mass.setConstant(0.05);
  scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, 20.0), 0.0);
  scene.system.q0.setConstant(0.2);
  scene.system.v0.setZero();
  const double forever = KernelAccuracy::forever;
  const auto growth = [&](double horizon) {
    Problem problem = around(scene, endless(scene, 0.4, 1000, 1e-4, horizon));
    const auto stepper = make_stepper(gamma(0.0), problem, h);
    EXPECT_FALSE(stepper->advance(2000));
    const auto amplitude = [&] {
      double largest = 0.0;
      for (int i = 0; i < 400; ++i) {
        EXPECT_FALSE(stepper->advance(1));
        problem.broadcast_particles();
        largest = std::max(largest, std::abs(problem.q[0]));
      }
      return largest;
    };
    const double before = amplitude();
    EXPECT_FALSE(stepper->advance(200000));
    return amplitude() / before;
  };
  EXPECT_LT(growth(forever), 1.0 + 1e-6);
  EXPECT_GT(std::abs(growth(1000 * h) - 1.0), 1e-3) << "or nothing has been tested";
}

TEST(MpiInfiniteLine, KnowsItsFactsAndItsStableSteps) {
  const Scene scene = two_oscillators();
  const Problem problem = around(scene, endless(scene, 0.5, 100));
  const Environment& line = *problem.environments().front();
  const double stiffness = stiffness_for(0.5);
  EXPECT_DOUBLE_EQ(line.properties().damping, std::sqrt(stiffness * line_mass));
  EXPECT_TRUE(std::isinf(line.properties().echo.time));
  const MethodCase& method = method_case("gamma(gamma=0.000000)");
  const Problem other = around(scene, long_line(scene, 0.5, 1000));
  const StabilityLimit found = stability_limit(problem, *method.method, method.options),
                       expected = stability_limit(other, *method.method, method.options);
  EXPECT_DOUBLE_EQ(found.largest_step, expected.largest_step);
}

TEST(MpiInfiniteLine, RefusesWhatIsNotKnownOfIt) {
  const Scene scene = two_oscillators();
  const auto unsupported_reason = [&](const Scheme& scheme, double courant = 0.5) {
    return endless(scene, courant, 100)->unsupported_reason(scheme).value_or("none");
  };
  using testing::HasSubstr;
  EXPECT_THAT(unsupported_reason(method_case("rk4").scheme), HasSubstr("explicit Runge-Kutta"));
  EXPECT_THAT(unsupported_reason(method_case("explicit-euler").scheme), HasSubstr("explicit Runge-Kutta"));
  EXPECT_THAT(unsupported_reason(method_case("lobatto(stages=3)").scheme), HasSubstr("different matrices"));
  EXPECT_THAT(unsupported_reason(ExactFlow{}), HasSubstr("no end"));
  EXPECT_EQ(unsupported_reason(method_case("yoshida4").scheme, 0.592), "none");
  EXPECT_THAT(unsupported_reason(method_case("yoshida4").scheme, 0.593), HasSubstr("not below 0.592475,"));
  const auto ever = endless(scene, 0.5, 100, 1e-12, KernelAccuracy::forever);
  EXPECT_THAT(ever->unsupported_reason(method_case("yoshida4").scheme).value_or(""), HasSubstr("passive for ever"));
  EXPECT_THAT(unsupported_reason(gamma(0.0), 1.2), HasSubstr("take steps of 0.0416667 at most"));
  EXPECT_THAT(unsupported_reason(gamma(0.25), 2.5), HasSubstr("beyond 2,"));
  EXPECT_EQ(unsupported_reason(gamma(0.25), 1.9), "none");
  EXPECT_EQ(unsupported_reason(gamma(0.5), 30.0), "none");
}

}  // namespace
}  // namespace bathline::infinite_line_test
