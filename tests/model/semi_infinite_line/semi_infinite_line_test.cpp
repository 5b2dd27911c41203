// A semi-infinite line against closed lines that are too long for an echo: trajectories, energies, forces, ranks, and
// unsupported schemes.
#include "model/semi_infinite_line/semi_infinite_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rank_subset.hpp"
#include "steppers/stability.hpp"
#include "steppers/stepper.hpp"
#include "attracting_centre.hpp"
#include "method_cases.hpp"
#include "model/line/line.hpp"
#include "model/problem.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"

namespace bathline::semi_infinite_line_test {
namespace {

constexpr double line_mass = 0.37;

/// Particles, and the attachment of a line.
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

/// lambda for the Courant number h sqrt(lambda/M).
double stiffness_for(double courant) { return line_mass * courant * courant / (h * h); }

std::unique_ptr<Environment> semi_infinite(const Scene& scene, double courant, int steps, double tolerance = 1e-12,
                                           double horizon = 0.0) {
  return std::make_unique<SemiInfiniteLine>("line", scene.attachment,
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

Problem make_problem(const Scene& scene, std::unique_ptr<Environment> environment) {
  std::vector<std::unique_ptr<Environment>> all;
  all.push_back(std::move(environment));
  const auto size = scene.system.size();
  Problem problem(scene.system, Eigen::MatrixXd::Zero(size, size), std::move(all), test_world());
  problem.prepare();
  return problem;
}

/// Largest difference of the trajectories, positions and momenta, relative to their largest size.
double distance(const Scene& scene, const Scheme& scheme, double courant, int steps, std::int64_t sites) {
  Problem problem = make_problem(scene, semi_infinite(scene, courant, steps)),
          reference_problem = make_problem(scene, long_line(scene, courant, sites));
  EXPECT_FALSE(problem.environments().front()->unsupported_reason(scheme))
      << *problem.environments().front()->unsupported_reason(scheme);
  const auto stepper = make_stepper(scheme, problem, h), reference_stepper = make_stepper(scheme, reference_problem, h);
  double difference = 0.0, size = 0.0;
  for (int step = 0; step < steps; step += 10) {
    EXPECT_FALSE(stepper->advance(10));
    EXPECT_FALSE(reference_stepper->advance(10));
    problem.broadcast_particles();
    reference_problem.broadcast_particles();
    difference = std::max({difference, (problem.q - reference_problem.q).cwiseAbs().maxCoeff(),
                           (problem.p - reference_problem.p).cwiseAbs().maxCoeff()});
    size = std::max({size, reference_problem.q.cwiseAbs().maxCoeff(), reference_problem.p.cwiseAbs().maxCoeff()});
  }
  return difference / size;
}

Scheme gamma(double g) {
  if (g == 0.0) return splitting({{Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 1.0}});
  if (g == 1.0) return splitting({{Substep::Kind::kick, 1.0, true}, {Substep::Kind::drift, 1.0}});
  return one_stage(1.0 - g, g);
}

/// A kernel error of 1e-12 of its sum, times its amplification by the particles.
constexpr double bound = 1e-11;

TEST(MpiSemiInfiniteLine, KicksAndDriftsFollowTheLongLine) {
  RankSubset subset(7);
  for (const Scene& scene : {double_well(), planet(), two_oscillators()}) {
    for (const double courant : {0.05, 0.31, 0.77, 0.99, 1.0}) {
      for (const char* name :
           {"gamma(gamma=0.000000)", "gamma(gamma=1.000000)", "stoermer-verlet(order_of_substeps=kick-drift-kick)",
            "stoermer-verlet(order_of_substeps=drift-kick-drift)"}) {
        if (!subset.takes_next()) continue;
        const double difference = distance(scene, method_case(name).scheme, courant, 1200, 700);
        EXPECT_LT(difference, bound) << scene.name << " " << courant << " " << name;
      }
    }
  }
}

TEST(MpiSemiInfiniteLine, EveryGammaFollowsTheLongLine) {
  RankSubset subset(7);
  for (const Scene& scene : {double_well(), planet(), two_oscillators()}) {
    for (const double g : {0.07, 0.3, 0.45, 0.501, 0.66, 0.9}) {
      const double edge = 1.0 / std::abs(1.0 - 2.0 * g);
      for (const double courant : {0.05, 0.5, std::min(0.97 * edge, 3.0), std::min(edge, 2.0)}) {
        if (!subset.takes_next()) continue;
        const double difference = distance(scene, gamma(g), courant, 400, 900);
        EXPECT_LT(difference, bound) << scene.name << " g = " << g << ", c = " << courant;
      }
    }
  }
}

TEST(MpiSemiInfiniteLine, RungeKuttaMethodsFollowTheLongLine) {
  RankSubset subset(7);
  for (const Scene& scene : {double_well(), planet(), two_oscillators()}) {
    for (const char* name : {"gamma(gamma=0.500000)", "time-centred", "implicit-euler", "gauss(stages=1)",
                             "gauss(stages=2)", "gauss(stages=3)", "gauss(stages=4)", "lobatto(stages=2)"}) {
      const bool is_explicit = std::string(name).starts_with("lobatto");
      for (const double courant : {0.05, 0.4, 1.0, is_explicit ? 0.8 : 3.0}) {
        if (!subset.takes_next()) continue;
        const double difference = distance(scene, method_case(name).scheme, courant, 300, 1200);
        EXPECT_LT(difference, bound) << scene.name << " " << name << ", c = " << courant;
      }
    }
  }
}

// General Lagrangians use the ends of the gamma family as one-stage schemes.
TEST(MpiSemiInfiniteLine, EndsOfTheGammaFamilyAsStages) {
  const Scene scene = double_well();
  for (const double g : {0.0, 1.0}) {
    EXPECT_LT(distance(scene, one_stage(1.0 - g, g), 0.6, 500, 400), bound) << g;
  }
}

/// Energy of a long line with kinetic energy at half steps and potential energy sum lambda/2 ext ext+ between them.
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

TEST(MpiSemiInfiniteLine, WorkOfTheHeadIsTheStaggeredEnergyOfTheLine) {
  constexpr double courant = 0.63;
  const Scene scene = double_well();
  Problem problem = make_problem(scene, semi_infinite(scene, courant, 900)),
          reference_problem = make_problem(scene, long_line(scene, courant, 400));
  const auto stepper = make_stepper(gamma(0.0), problem, h),
             reference_stepper = make_stepper(gamma(0.0), reference_problem, h);
  for (int record = 0; record < 90; ++record) {
    EXPECT_FALSE(stepper->advance(10));
    EXPECT_FALSE(reference_stepper->advance(10));
    problem.broadcast_particles();
    reference_problem.broadcast_particles();
    const EnergyLedger ledger = problem.energies();
    EXPECT_EQ(ledger.interaction, 0.0);
    // The ledger is at the kick, the staggered energy half a step behind it.
    std::vector<double> force(1), head(1);
    const double velocity = problem.p[0] / scene.system.mass[0];
    problem.head(*problem.environments().front(), problem.q, head);
    if (test_world().is_root()) problem.environments().front()->force(head, force);
    const double staggered = staggered_energy(reference_problem, stiffness_for(courant), head[0] + h * velocity);
    if (!test_world().is_root()) continue;
    EXPECT_NEAR(ledger.environment - 0.5 * h * force[0] * velocity, staggered,
                1e-12 * std::max(1.0, std::abs(staggered)));
  }
}

TEST(MpiSemiInfiniteLine, LedgersOfImplicitSchemesAreThoseOfTheLongLine) {
  for (const char* name : {"gamma(gamma=0.500000)", "gauss(stages=2)", "gauss(stages=3)"}) {
    const Scene scene = double_well();
    Problem problem = make_problem(scene, semi_infinite(scene, 0.9, 300)),
            reference_problem = make_problem(scene, long_line(scene, 0.9, 600));
    EXPECT_FALSE(make_stepper(method_case(name).scheme, problem, h)->advance(300));
    EXPECT_FALSE(make_stepper(method_case(name).scheme, reference_problem, h)->advance(300));
    const EnergyLedger actual = problem.energies(), expected = reference_problem.energies();
    EXPECT_NEAR(actual.environment, expected.environment + expected.interaction, 1e-11 * expected.environment) << name;
  }
}

/// Forces on the head between two steps, which are recorded.
TEST(MpiSemiInfiniteLine, ForcesBetweenStepsAreThoseOfTheLongLine) {
  const Scene scene = double_well();
  std::vector<Scheme> schemes = {gamma(0.0), gamma(0.2), gamma(0.5), gamma(0.8), gamma(1.0)};
  for (const char* name : {"stoermer-verlet(order_of_substeps=drift-kick-drift)", "gauss(stages=3)",
                           "lobatto(stages=2)", "stoermer-verlet(order_of_substeps=kick-drift-kick)"}) {
    schemes.push_back(method_case(name).scheme);
  }
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    Problem problem = make_problem(scene, semi_infinite(scene, 0.7, 200)),
            reference_problem = make_problem(scene, long_line(scene, 0.7, 500));
    const auto stepper = make_stepper(schemes[i], problem, h),
               reference_stepper = make_stepper(schemes[i], reference_problem, h);
    for (int step = 0; step < 200; ++step) {
      EXPECT_FALSE(stepper->advance(1));
      EXPECT_FALSE(reference_stepper->advance(1));
      if (!test_world().is_root()) continue;
      std::vector<double> head(1), actual(1), expected(1);
      problem.head(*problem.environments().front(), problem.q, head);
      problem.environments().front()->force(head, actual);
      reference_problem.head(*reference_problem.environments().front(), reference_problem.q, head);
      reference_problem.environments().front()->force(head, expected);
      ASSERT_NEAR(actual[0], expected[0], 1e-9) << i << " at step " << step;
    }
  }
}

/// The force on a head that is clamped away from the rest position is the kernel.
TEST(MpiSemiInfiniteLine, ForceOnAClampedHeadIsTheKernel) {
  Scene scene = double_well();
  scene.system.mass.setConstant(1e100);
  scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Zero(1, 1), 0.0);
  scene.system.v0.setZero();
  std::vector<Scheme> schemes;
  std::vector<double> bounds;
  for (const double g : {0.0, 0.07, 0.25, 0.45, 0.48, 0.5, 0.501, 0.66, 0.9, 1.0}) {
    schemes.push_back(gamma(g));
    // 1e-12 of the sum of 1.6/c. The kernel of stages is that of velocities divided by (1-g) + g z, and that between
    // steps is divided once more by g + (1-g) z: near g = 1/2 both have a pole at the distance 1 - 2 g from the unit
    // circle.
    const double pole = g == 0.5 ? 1.0 : 1.0 - 2.0 * g;
    bounds.push_back(std::max(bound, 1e-12 * 1.6 / 0.7 * 2.0 / (pole * pole)));
  }
  schemes.push_back(one_stage(0.0, 1.0));
  for (const char* name : {"stoermer-verlet(order_of_substeps=drift-kick-drift)", "gauss(stages=2)",
                           "lobatto(stages=2)", "stoermer-verlet(order_of_substeps=kick-drift-kick)"}) {
    schemes.push_back(method_case(name).scheme);
  }
  bounds.resize(schemes.size(), bound);
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    Problem problem = make_problem(scene, semi_infinite(scene, 0.7, 100)),
            reference_problem = make_problem(scene, long_line(scene, 0.7, 300));
    problem.q[0] += 1.0;
    reference_problem.q[0] += 1.0;
    const auto stepper = make_stepper(schemes[i], problem, h),
               reference_stepper = make_stepper(schemes[i], reference_problem, h);
    for (int step = 0; step < 100; ++step) {
      std::vector<double> actual(1), expected(1);
      const std::vector<double> head = {1.0};
      if (test_world().is_root()) {
        problem.environments().front()->force(head, actual);
        reference_problem.environments().front()->force(head, expected);
        ASSERT_NEAR(actual[0], expected[0], bounds[i] * stiffness_for(0.7)) << i << " at step " << step;
      }
      EXPECT_FALSE(stepper->advance(1));
      EXPECT_FALSE(reference_stepper->advance(1));
    }
  }
}

// A light particle vibrates above the band, where the line absorbs no energy, so that errors of the kernel are visible.
// A head that comes back to exactly 0 has a past: round-off of its position is no new start.
TEST(SemiInfiniteLine, RememberWhatHappenedBeforeAReturnToTheStart) {
  for (const double gamma_weight : {0.25, 0.75}) {
    SCOPED_TRACE(gamma_weight);
    const auto force_after_return = [&](double roundoff) {
      const std::unique_ptr<Environment> line = semi_infinite(double_well(), 0.8, 100);
      line->prepare({});
      const PartitionedRungeKutta scheme = one_stage(1.0 - gamma_weight, gamma_weight);
      const auto stepper = line->implicit_stepper(scheme, h);
      StageResponse response;
      double x = 0.0;
      for (const double v : {1.0, -1.0}) {
        EXPECT_TRUE(stepper->condense({&x, 1}, response));
        stepper->back_substitute(Eigen::MatrixXd::Constant(1, 1, v));
        x += h * v;
      }
      EXPECT_EQ(x, 0.0);
      x = roundoff;
      EXPECT_TRUE(stepper->condense({&x, 1}, response));
      return response.constant(0, 0);
    };
    EXPECT_GT(std::abs(force_after_return(0.0)), 1e-3);
    EXPECT_NEAR(force_after_return(1e-17), force_after_return(0.0), 1e-12);
  }
}

TEST(MpiSemiInfiniteLine, ForeverKernelsAreStable) {
  Scene scene = double_well();
  scene.system.mass.setConstant(0.05);
  scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, 20.0), 0.0);
  scene.system.q0.setConstant(0.2);
  scene.system.v0.setZero();
  const double forever = KernelAccuracy::forever;
  const auto growth = [&](double horizon) {
    Problem problem = make_problem(scene, semi_infinite(scene, 0.4, 1000, 1e-4, horizon));
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
  EXPECT_GT(std::abs(growth(1000 * h) - 1.0), 1e-3) << "the horizon has no effect";
}

TEST(MpiSemiInfiniteLine, HasPropertiesAndStabilityLimit) {
  const Scene scene = two_oscillators();
  const Problem problem = make_problem(scene, semi_infinite(scene, 0.5, 100));
  const Environment& line = *problem.environments().front();
  const double stiffness = stiffness_for(0.5);
  EXPECT_DOUBLE_EQ(line.properties().damping, std::sqrt(stiffness * line_mass));
  EXPECT_TRUE(std::isinf(line.properties().echo.time));
  const MethodCase& method = method_case("gamma(gamma=0.000000)");
  const Problem reference_problem = make_problem(scene, long_line(scene, 0.5, 1000));
  const StabilityLimit actual = stability_limit(problem, *method.method, method.options),
                       expected = stability_limit(reference_problem, *method.method, method.options);
  EXPECT_DOUBLE_EQ(actual.largest_step, expected.largest_step);
}

TEST(MpiSemiInfiniteLine, RefusesUnsupportedSchemes) {
  const Scene scene = two_oscillators();
  const auto unsupported_reason = [&](const Scheme& scheme, double courant = 0.5) {
    return semi_infinite(scene, courant, 100)->unsupported_reason(scheme).value_or("none");
  };
  using testing::HasSubstr;
  EXPECT_THAT(unsupported_reason(method_case("rk4").scheme), HasSubstr("explicit Runge-Kutta"));
  EXPECT_THAT(unsupported_reason(method_case("explicit-euler").scheme), HasSubstr("explicit Runge-Kutta"));
  EXPECT_THAT(unsupported_reason(method_case("lobatto(stages=3)").scheme), HasSubstr("different tableaus"));
  EXPECT_THAT(unsupported_reason(ExactFlow{}), HasSubstr("finite number of sites"));
  for (const char* name : {"yoshida4", "blanes-moan-rkn6"}) {
    EXPECT_THAT(unsupported_reason(method_case(name).scheme), HasSubstr("several kicks a step")) << name;
  }
  EXPECT_THAT(unsupported_reason(gamma(0.0), 1.2), HasSubstr("use steps of 0.0416667 at most"));
  EXPECT_THAT(unsupported_reason(gamma(0.25), 2.5), HasSubstr("stability limit 2;"));
  EXPECT_EQ(unsupported_reason(gamma(0.25), 1.9), "none");
  EXPECT_EQ(unsupported_reason(gamma(0.5), 30.0), "none");
}

}  // namespace
}  // namespace bathline::semi_infinite_line_test
