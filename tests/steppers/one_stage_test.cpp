// Implicit one-stage schemes against dense Newton on particles and sites together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>

#include "steppers/stepper.hpp"
#include "attracting_centre.hpp"
#include "dense_system.hpp"
#include "method_cases.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/potentials/pair_potential_sum.hpp"
#include "on_rank_zero.hpp"
#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "self_world.hpp"

namespace bathline::one_stage_test {
namespace {

struct Subject {
  std::string name;
  Scene scene;
  double h;
};

std::vector<Subject> subjects() {
  RandomNumbers random(31);
  std::vector<Subject> all;
  {
    Scene scene;
    scene.system = random_particles(1, 1, random);
    scene.system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Constant(1, 1, 1.7));
    scene.lines = {{{{0, 1.0}}, {.mass = 1.3, .stiffness = 2.9}, 130}};
    all.push_back({"linear, short step", scene, 0.05});
    all.push_back({"linear, long step", scene, 20.0});
    scene.lines[0].constants.far_end = FarEnd::matched;
    all.push_back({"linear, matched end", scene, 0.8});
  }
  {
    Scene scene;
    scene.system = random_particles(2, 1, random);
    scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd{{1.0, 0.0}, {0.0, 0.4}}, 0.9);
    scene.lines = {{{{0, 1.0}, {1, -1.0}}, {.mass = 0.8, .stiffness = 1.9}, 85}};
    all.push_back({"quartic particles, a line between them", scene, 0.3});
    scene.lines.push_back({{{0, 1.0}}, {.mass = 1.8, .stiffness = 0.9, .far_end = FarEnd::free, .dashpot = 0.0}, 1});
    scene.lines.push_back({{{0, 1.0}}, {.mass = 1.0, .stiffness = 4.0}, 20});
    all.push_back({"and two more on the first", scene, 0.3});
  }
  {
    Scene scene;
    scene.system = random_particles(1, 2, random);
    scene.system.q0 << 1.0, 0.2;
    scene.system.v0 << 0.1, 0.9;
    scene.system.mass.setOnes();
    scene.system.potential = std::make_shared<AttractingCentre>();
    scene.lines = {{{{0, 1.0}}, {.mass = 0.01, .stiffness = 1.0}, 50}};
    all.push_back({"Kepler with a planar line", scene, 0.1});
    scene.lines.clear();
    scene.damping = Eigen::MatrixXd{{0.3, 0.1}, {0.1, 0.2}};
    all.push_back({"Kepler with a damper", scene, 0.1});
  }
  return all;
}

/// Solves for the end of a step: residual and its Jacobian in the displacements there.
PhasePoint newton(const DenseSystem& dense, const PhasePoint& start, double h, double g, bool implicit_euler) {
  const auto momenta = [&](const Eigen::VectorXd& u) -> Eigen::VectorXd {
    const Eigen::VectorXd position = implicit_euler ? u : Eigen::VectorXd(g * start.u + (1.0 - g) * u);
    return start.p + h * dense.force(position) - dense.damping * (u - start.u);
  };
  const double weight = implicit_euler ? 1.0 : g;        // of p+ in the drift
  const double at_end = implicit_euler ? 1.0 : 1.0 - g;  // of u+ in the force
  Eigen::VectorXd u = start.u + h * start.p.cwiseQuotient(dense.mass);
  for (int i = 0; i < 30; ++i) {
    const Eigen::VectorXd position = start.u + at_end * (u - start.u);
    const Eigen::VectorXd residual =
        dense.mass.cwiseProduct(u - start.u) / h - (1.0 - weight) * start.p - weight * momenta(u);
    Eigen::MatrixXd jacobian = weight * (h * at_end * dense.stiffness(position) + dense.damping);
    jacobian.diagonal() += dense.mass / h;
    const Eigen::VectorXd correction = jacobian.partialPivLu().solve(residual);
    u -= correction;
    if (correction.norm() < 1e-15 * (1.0 + u.norm())) break;
  }
  return {u, momenta(u)};
}

class MpiOneStageStepper : public testing::TestWithParam<std::string> {};

TEST_P(MpiOneStageStepper, EqualsDenseNewtonOnAnyNumberOfRanks) {
  const MethodCase& method = method_case(GetParam());
  const double g = method.options.has("gamma") ? method.options.number("gamma") : 0.0;
  for (const Subject& subject : subjects()) {
    SCOPED_TRACE(subject.name);
    Problem problem = make_problem(subject.scene, test_world());
    const std::unique_ptr<Stepper> stepper = make_stepper(method.scheme, problem, subject.h);
    Problem alone = make_problem(subject.scene, self_world());
    const std::unique_ptr<Stepper> stepper_alone = make_stepper(method.scheme, alone, subject.h);

    const DenseSystem dense(subject.scene);
    RandomNumbers random(2);
    PhasePoint expected = random_point(subject.scene.size(), 0.1, random);
    expected.u.head(problem.q.size()).setZero();
    expected.p.head(problem.q.size()) = problem.p;
    double scale_u = 0.0, scale_p = 0.0;
    set_state(problem, expected);
    set_state(alone, expected);
    double work = 0.0;
    EXPECT_FALSE(stepper->advance(20).has_value());
    const double dissipated = problem.energies().dissipated;
    const PhasePoint actual = get_state(problem);
    on_rank_zero([&] {
      for (int step = 0; step < 20; ++step) {
        const PhasePoint before = expected;
        expected = newton(dense, before, subject.h, g, method.method->entry.name == "implicit-euler");
        scale_u = std::max(scale_u, expected.u.cwiseAbs().maxCoeff());
        scale_p = std::max(scale_p, expected.p.cwiseAbs().maxCoeff());
        work += (expected.u - before.u).dot(dense.damping * (expected.u - before.u)) / subject.h;
      }
      EXPECT_FALSE(stepper_alone->advance(20).has_value());
      const PhasePoint serial = get_state(alone);
      EXPECT_LT((actual.u - expected.u).cwiseAbs().maxCoeff(), 2e-12 * scale_u);
      EXPECT_LT((actual.p - expected.p).cwiseAbs().maxCoeff(), 2e-12 * scale_p);
      // At most twenty steps with a hundred rounding errors each; beyond the stability limit they grow as the motion
      // does.
      constexpr double roundoff = 20 * 100 * 2.2e-16;
      EXPECT_LT((actual.u - serial.u).cwiseAbs().maxCoeff(), roundoff * scale_u);
      EXPECT_LT((actual.p - serial.p).cwiseAbs().maxCoeff(), roundoff * scale_p);
    });
    test_world().broadcast(std::span<double>(&work, 1));
    EXPECT_NEAR(dissipated, work, 1e-11 * (1.0 + work));
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, MpiOneStageStepper,
                         testing::Values("gamma(gamma=0.250000)", "gamma(gamma=0.500000)", "implicit-euler"),
                         [](const auto& info) { return "method" + std::to_string(info.index); });

TEST(MpiOneStageStepperFailure, IsTheSameOnEveryRankAndNamesTheStep) {
  PetscOptionsSetValue(nullptr, "-snes_max_it", "1");
  const Subject subject = subjects()[3];
  Problem problem = make_problem(subject.scene, test_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(method_case("gamma(gamma=0.500000)").scheme, problem, 3.0);
  PetscOptionsClearValue(nullptr, "-snes_max_it");
  const std::optional<Failure> failure = stepper->advance(5);
  ASSERT_TRUE(failure.has_value());
  EXPECT_GE(failure->step, 1);
  EXPECT_LE(failure->step, 5);
  EXPECT_GT(failure->residual, 0.0);
  EXPECT_THAT(failure->reason, testing::HasSubstr("DIVERGED_MAX_IT"));
  const double local[] = {static_cast<double>(failure->step), failure->residual};
  const std::vector<double> all = test_world().gather_all(local);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], local[i % 2]);
}

// When a motion has decayed, the residual of Newton's method is the round-off of forces that cancel, which is larger
// than that of their sum. The method must not fail then.
TEST(MpiOneStageStepperFailure, IsNoneAtRest) {
  Mistakes mistakes;
  Section bond;
  bond.set("kind", std::string("morse"), {});
  for (const auto& [key, value] : {std::pair("depth", 4.0), {"width", 0.5}, {"r0", 1.0}}) bond.set(key, value, {});
  Scene scene;
  scene.system =
      make_particles(Eigen::VectorXd{{1.0, 2.0}},
                     std::make_shared<PairPotentialSum>(
                         std::vector<PairPotentialSum::Term>{{0, 1, build_potential(potentials(), bond, mistakes)}}, 1),
                     Eigen::VectorXd{{4.9, 6.1}});
  scene.damping = Eigen::MatrixXd{{2.0, -0.3}, {-0.3, 1.5}};
  for (const char* method : {"gamma(gamma=0.250000)", "gamma(gamma=0.500000)", "implicit-euler", "gauss(stages=2)",
                             "gauss(stages=3)", "lobatto(stages=3)"}) {
    SCOPED_TRACE(method);
    Problem problem = make_problem(scene, test_world());
    const std::unique_ptr<Stepper> stepper = make_stepper(method_case(method).scheme, problem, 0.02);
    const std::optional<Failure> failure = stepper->advance(20000);
    EXPECT_FALSE(failure) << failure->step << ": " << failure->reason;
    problem.broadcast_particles();
    EXPECT_NEAR(problem.q[1] - problem.q[0], 1.0, 1e-14);
  }
}

TEST(MpiOneStageStepperFailure, IsNoneWhereNothingMoves) {
  Scene scene;
  scene.system =
      make_particles(Eigen::VectorXd::Ones(1), std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Ones(1, 1)));
  Problem problem = make_problem(scene, test_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(method_case("gamma(gamma=0.500000)").scheme, problem, 0.1);
  const std::optional<Failure> failure = stepper->advance(3);
  EXPECT_FALSE(failure) << failure->reason;
  EXPECT_EQ(problem.q[0], 0.0);
}

TEST(MpiOneStageStepperFailure, ComesFromALinearSolverToo) {
  const Subject subject = subjects()[0];
  const PetscOptionsScope options({{"-ksp_type", "cg"}, {"-pc_type", "none"}, {"-ksp_max_it", "1"}});
  Problem problem = make_problem(subject.scene, test_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(method_case("gamma(gamma=0.500000)").scheme, problem, 3.0);
  // From rest, where only the response to the head needs more iterations than allowed.
  const std::optional<Failure> failure = stepper->advance(5);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->step, 1);
  EXPECT_THAT(failure->reason, testing::HasSubstr("DIVERGED_ITS"));
}

}  // namespace
}  // namespace bathline::one_stage_test
