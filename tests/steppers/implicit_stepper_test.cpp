// Implicit steppers: blocks of steps and PETSc's solvers, on nonlinear particles with long lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "steppers/stepper.hpp"
#include "method_cases.hpp"
#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "scene.hpp"
#include "self_world.hpp"

namespace bathline::implicit_stepper_test {
namespace {

/// Particles bound to each other by springs that harden, in a plane, with long lines of every kind.
Scene blocked_scene() {
  RandomNumbers random(77);
  Scene scene;
  scene.system = random_particles(2, 2, random);
  const Eigen::MatrixXd half = random_matrix(4, 4, random);
  scene.system.potential = std::make_shared<QuarticPotential>(half * half.transpose(), 0.7);
  scene.lines = {{{{0, 1.0}}, {.mass = 0.3, .stiffness = 1.2, .far_end = FarEnd::matched, .dashpot = 0.0}, 1500},
                 {{{0, 1.0}, {1, -1.0}}, {.mass = 0.8, .stiffness = 0.6, .far_end = FarEnd::free, .dashpot = 0.0}, 900},
                 {{{1, 1.0}}, {.mass = 1.0, .stiffness = 1.0, .far_end = FarEnd::fixed, .dashpot = 0.0}, 20}};
  return scene;
}

class MpiImplicitStepper : public testing::TestWithParam<std::string> {};

// The reference is a standard solver of PETSc.
TEST_P(MpiImplicitStepper, BlocksEqualAStockSolver) {
  const Scene scene = blocked_scene();
  constexpr int steps = 150;
  Problem blocked = make_problem(scene, test_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(method_case(GetParam()).scheme, blocked, 0.25);
  EXPECT_GT(stepper->block_granularity(), 1);
  Problem stock = make_problem(scene, self_world());
  std::unique_ptr<Stepper> stock_stepper;
  {
    const PetscOptionsScope options({{"-ksp_type", "preonly"}, {"-pc_type", "lu"}});
    stock_stepper = make_stepper(method_case(GetParam()).scheme, stock, 0.25);
  }
  EXPECT_EQ(stock_stepper->block_granularity(), 1);
  RandomNumbers random(3);
  const PhasePoint start = random_point(scene.size(), 0.5, random);
  set_state(blocked, start);
  set_state(stock, start);
  EXPECT_FALSE(stepper->advance(steps));
  EXPECT_FALSE(stock_stepper->advance(steps));
  const PhasePoint actual = get_state(blocked), expected = get_state(stock);
  // Newton's method stops at a few units in the last place, and the particles' springs amplify the differences.
  const double tolerance = 100.0 * steps * std::numeric_limits<double>::epsilon();
  EXPECT_LT((actual.u - expected.u).cwiseAbs().maxCoeff(), tolerance * expected.u.cwiseAbs().maxCoeff());
  EXPECT_LT((actual.p - expected.p).cwiseAbs().maxCoeff(), tolerance * expected.p.cwiseAbs().maxCoeff());
  const double dissipated = blocked.energies().dissipated, dissipated_by_stock = stock.energies().dissipated;
  EXPECT_GT(dissipated, 0.0);
  EXPECT_NEAR(dissipated, dissipated_by_stock, tolerance * dissipated_by_stock);
}

TEST_P(MpiImplicitStepper, SplittingAnAdvanceChangesNoBit) {
  const Scene scene = blocked_scene();
  const auto end = [&](std::int64_t first_blocks) {
    Problem problem = make_problem(scene, test_world());
    const std::unique_ptr<Stepper> stepper = make_stepper(method_case(GetParam()).scheme, problem, 0.25);
    RandomNumbers random(4);
    set_state(problem, random_point(scene.size(), 0.5, random));
    const std::int64_t first = first_blocks * stepper->block_granularity(), all = 3 * stepper->block_granularity() + 5;
    EXPECT_FALSE(stepper->advance(first));
    EXPECT_FALSE(stepper->advance(all - first));
    return get_state(problem);
  };
  const PhasePoint expected = end(0);
  for (const std::int64_t first : {1, 2, 3}) {
    const PhasePoint actual = end(first);
    EXPECT_TRUE((actual.u.array() == expected.u.array()).all());
    EXPECT_TRUE((actual.p.array() == expected.p.array()).all());
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, MpiImplicitStepper,
                         testing::Values("gamma(gamma=0.250000)", "gamma(gamma=0.500000)", "implicit-euler",
                                         "gauss(stages=1)", "gauss(stages=2)", "gauss(stages=3)", "gauss(stages=4)"),
                         [](const auto& info) { return "method" + std::to_string(info.index); });

// The midpoint rule keeps quadratic invariants: the energy of a linear system, whatever the number of blocks.
TEST(MpiImplicitStepperEnergy, IsKeptOverManyBlocks) {
  Scene scene;
  RandomNumbers random(6);
  scene.system = random_particles(1, 1, random);
  scene.system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Constant(1, 1, 1.7));
  scene.lines = {{{{0, 1.0}}, {.mass = 1.3, .stiffness = 2.9}, 2500}};
  Problem problem = make_problem(scene, test_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(method_case("gamma(gamma=0.500000)").scheme, problem, 0.4);
  constexpr int steps = 20000;
  const double before = problem.energies().total();
  EXPECT_FALSE(stepper->advance(steps));
  problem.broadcast_particles();
  const double after = problem.energies().total();
  EXPECT_NEAR(after, before, steps * std::numeric_limits<double>::epsilon() * before);
}

/// A force that ends after a while.
class EndingForce final : public Force {
 public:
  void value(const Eigen::VectorXd& q, const Eigen::VectorXd&, double t, Eigen::VectorXd& force) const override {
    force = Eigen::VectorXd::Constant(q.size(), t < 2.0 ? 1.0 : std::numeric_limits<double>::quiet_NaN());
  }
  void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd&, double, Eigen::MatrixXd& by_q,
                 Eigen::MatrixXd& by_v) const override {
    by_q = by_v = Eigen::MatrixXd::Zero(q.size(), q.size());
  }
};

// The force on the head is that of the sites as they are, also after a stepper has failed within a block and is gone.
TEST(MpiImplicitStepperFailure, LeavesNoPartOfTheStepperBehind) {
  for (const std::int64_t sites : {40, 3000}) {
    Scene scene;
    RandomNumbers random(6);
    scene.system = random_particles(1, 1, random);
    scene.system.applied = std::make_shared<EndingForce>();
    scene.lines = {{{{0, 1.0}}, {.mass = 1.3, .stiffness = 2.9}, sites}};
    Problem problem = make_problem(scene, test_world());
    std::unique_ptr<Stepper> stepper = make_stepper(method_case("gauss(stages=2)").scheme, problem, 0.1);
    EXPECT_GT(stepper->block_granularity(), 1);
    EXPECT_TRUE(stepper->advance(64));
    stepper.reset();
    Environment& line = *problem.environments().front();
    std::vector<double> w, p, force(1);
    line.gather_state(w, p);
    if (!test_world().is_root()) continue;
    line.force(std::vector<double>{0.5}, force);
    EXPECT_EQ(force[0], 2.9 * (w[0] - 0.5));
  }
}

TEST(MpiImplicitStepperOneStage, GaussIsTheMidpointRule) {
  const Scene scene = blocked_scene();
  const auto end = [&](const std::string& method) {
    Problem problem = make_problem(scene, test_world());
    const std::unique_ptr<Stepper> stepper = make_stepper(method_case(method).scheme, problem, 0.25);
    EXPECT_FALSE(stepper->advance(40));
    return get_state(problem);
  };
  const PhasePoint actual = end("gauss(stages=1)"), expected = end("gamma(gamma=0.500000)");
  EXPECT_TRUE((actual.u.array() == expected.u.array()).all());
  EXPECT_TRUE((actual.p.array() == expected.p.array()).all());
}

TEST(MpiImplicitStepperPetsc, SolvesTheStagesOfLinesWithOptionsOfTheUser) {
  const Scene scene = blocked_scene();
  for (const char* method : {"gauss(stages=2)", "lobatto(stages=3)"}) {
    const auto end = [&] {
      Problem problem = make_problem(scene, test_world());
      const std::unique_ptr<Stepper> stepper = make_stepper(method_case(method).scheme, problem, 0.25);
      const std::optional<Failure> failure = stepper->advance(10);
      EXPECT_FALSE(failure) << failure->reason;
      return get_state(problem);
    };
    const PhasePoint expected = end();
    const PetscOptionsScope options({{"-ksp_type", "gmres"}, {"-pc_type", "jacobi"}});
    const PhasePoint actual = end();
    // Residuals of 1e-14 for ten steps, of states of size one.
    EXPECT_LT((actual.u - expected.u).cwiseAbs().maxCoeff(), 1e-12) << method;
    EXPECT_LT((actual.p - expected.p).cwiseAbs().maxCoeff(), 1e-12) << method;
    EXPECT_FALSE((actual.u.array() == expected.u.array()).all()) << method << ": the options had no effect";
  }
}

TEST(MpiImplicitStepperPetsc, FailsWhereTheLinearSolverDoes) {
  const PetscOptionsScope options({{"-ksp_type", "gmres"}, {"-pc_type", "none"}, {"-ksp_max_it", "1"}});
  Problem problem = make_problem(blocked_scene(), test_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(method_case("gauss(stages=2)").scheme, problem, 3.0);
  const std::optional<Failure> failure = stepper->advance(5);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->step, 1);
  EXPECT_THAT(failure->reason, testing::HasSubstr("DIVERGED_ITS"));
}

// Lines in blocks leave a nonlinear particle the order of the method.
TEST(MpiImplicitStepperOrder, IsKeptInBlocks) {
  Scene scene;
  RandomNumbers random(6);
  scene.system = random_particles(1, 1, random);
  scene.system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, 1.7), 0.9);
  scene.lines = {{{{0, 1.0}}, {.mass = 0.5, .stiffness = 0.6, .far_end = FarEnd::free, .dashpot = 0.0}, 2500}};
  const auto end = [&](const std::string& method, int steps) {
    Problem problem = make_problem(scene, test_world());
    const std::unique_ptr<Stepper> stepper = make_stepper(method_case(method).scheme, problem, 4.0 / steps);
    EXPECT_GT(stepper->block_granularity(), 1);
    EXPECT_FALSE(stepper->advance(steps));
    problem.broadcast_particles();
    return problem.q[0];
  };
  const double exact = end("gauss(stages=4)", 128);
  for (const auto& [method, order, steps] :
       {std::tuple("gauss(stages=2)", 4.0, 64), std::tuple("gauss(stages=3)", 6.0, 24)}) {
    const double coarse = std::abs(end(method, steps) - exact), fine = std::abs(end(method, 2 * steps) - exact);
    EXPECT_NEAR(std::log2(coarse / fine), order, 0.03 * order) << method;
  }
}

}  // namespace
}  // namespace bathline::implicit_stepper_test
