// The stages of particles in implicit steps: all solvers of their equations give the same path.
#include <gtest/gtest.h>

#include "steppers/stages.hpp"
#include "steppers/stepper.hpp"
#include "method_cases.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/potentials/pair_potential_sum.hpp"
#include "petsc_options.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "scene.hpp"
#include "self_world.hpp"

namespace bathline::stages_test {
namespace {

std::shared_ptr<const PairPotential> separation(const char* kind,
                                                const std::vector<std::pair<const char*, double>>& numbers) {
  Section section;
  section.set("kind", std::string(kind), {});
  for (const auto& [name, value] : numbers) section.set(name, value, {});
  Mistakes mistakes;
  return build_potential(potentials(), section, mistakes);
}

/// Three atoms in the plane.
Scene trimer() {
  Scene scene;
  scene.system.particles = 3;
  scene.system.axes = 2;
  scene.system.mass = Eigen::VectorXd{{1.0, 1.0, 1.5, 1.5, 0.7, 0.7}};
  scene.system.q0 = Eigen::VectorXd{{0.0, 0.0, 1.2, 0.1, 0.5, 1.1}};
  scene.system.v0 = Eigen::VectorXd{{0.0, 0.1, -0.1, 0.0, 0.1, 0.2}};
  const auto bond = separation("lennard-jones", {{"epsilon", 1.1}, {"sigma", 1.0}});
  scene.system.potential = std::make_shared<PairPotentialSum>(
      std::vector<PairPotentialSum::Term>{{0, 1, bond}, {1, 2, bond}, {0, 2, bond}}, 2);
  return scene;
}

/// A chain whose springs harden, closed to a ring or between walls.
Scene chain(int particles, bool is_ring, double alpha = 0.2, double beta = 0.7) {
  RandomNumbers random(21);
  Scene scene;
  scene.system = random_particles(particles, 1, random);
  scene.system.q0 *= 0.3;
  const auto spring = separation("fput", {{"k", 1.3}, {"alpha", alpha}, {"beta", beta}});
  std::vector<PairPotentialSum::Term> terms;
  for (int a = 0; a + 1 < particles; ++a) terms.push_back({a, a + 1, spring});
  terms.push_back({is_ring ? particles - 1 : PairPotentialSum::origin, 0, spring});
  if (!is_ring) terms.push_back({particles - 1, PairPotentialSum::origin, spring});
  scene.system.potential = std::make_shared<PairPotentialSum>(std::move(terms), 1);
  return scene;
}

/// Two particles whose equations are linear.
Scene linear() {
  RandomNumbers random(33);
  Scene scene;
  scene.system = random_particles(2, 1, random);
  scene.system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{2.0, -1.0}, {-1.0, 1.5}});
  return scene;
}

/// With dampers to the ground on the first and the last particle, and one between the first two.
Scene damped(Scene scene) {
  const int n = scene.system.size();
  scene.damping = Eigen::MatrixXd::Zero(n, n);
  scene.damping(0, 0) = 0.5;
  scene.damping(1, 1) = scene.damping(n - 1, n - 1) = 0.2;
  scene.damping(0, 1) = scene.damping(1, 0) = -0.2;
  return scene;
}

struct End {
  Eigen::VectorXd q, p;
  double dissipated;
};

End end_of(const Scene& scene, const std::string& method, double h, int steps) {
  Problem problem = make_problem(scene, self_world());
  const std::optional<Failure> failure = make_stepper(method_case(method).scheme, problem, h)->advance(steps);
  EXPECT_FALSE(failure) << failure->reason;
  return {problem.q, problem.p, problem.dissipated};
}

// PETSc solves the same equations with a matrix of all unknowns, to round-off in the residual. The errors add up over
// the steps, at most linearly in the short time here, in which neighbouring paths do not diverge.
TEST(Stages, OwnSolversAndPetscGiveTheSamePath) {
  constexpr int steps = 40;
  const std::pair<const char*, Scene> scenes[] = {{"trimer", trimer()},
                                                  {"two particles", damped(chain(2, false))},
                                                  {"chain between walls", chain(13, false)},
                                                  {"damped chain", damped(chain(12, false))},
                                                  {"linear", damped(linear())},
                                                  {"ring", chain(14, true)}};
  for (const auto& [name, scene] : scenes) {
    for (const char* method : {"gamma(gamma=0.250000)", "gauss(stages=2)", "lobatto(stages=3)", "gauss(stages=4)"}) {
      // With the longer step the masses are no substitute for the matrix.
      for (const double h : {0.02, 0.9}) {
        if (h > 0.1 && scene.system.axes == 2) continue;  // atoms would fly apart
        SCOPED_TRACE(testing::Message() << name << ", " << method << ", h = " << h);
        const End own = end_of(scene, method, h, steps);
        const PetscOptionsScope options(PetscChoice{{"-snes_max_it", "50"}});
        const End petsc = end_of(scene, method, h, steps);
        const double tolerance = 20.0 * steps * std::numeric_limits<double>::epsilon();
        EXPECT_LE((own.q - petsc.q).norm(), tolerance * petsc.q.norm());
        EXPECT_LE((own.p - petsc.p).norm(), tolerance * petsc.p.norm());
        EXPECT_NEAR(own.dissipated, petsc.dissipated, tolerance * std::max(1.0, petsc.dissipated));
        EXPECT_GT((own.q - scene.system.q0).norm(), 1e-3);
      }
    }
  }
}

// The factors of linear equations are stored, but only as long as the environments respond as before.
TEST(Stages, StoredFactorsBelongToOneResponse) {
  RandomNumbers random(31);
  Scene scene;
  scene.system = random_particles(2, 1, random);
  scene.system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd{{2.0, -1.0}, {-1.0, 1.5}});
  scene.lines = {{{{0, 1.0}}, {.mass = 1.0, .stiffness = 1.0}, 10}};
  const auto scheme = std::get<PartitionedRungeKutta>(method_case("gauss(stages=2)").scheme);
  constexpr double h = 0.3;
  Problem problem = make_problem(scene, self_world()), fresh = make_problem(scene, self_world());
  StageSolver stages(scheme, problem, h);
  StageForces forces{Eigen::VectorXd::Constant(4, 0.4), 0.5 * Eigen::MatrixXd::Identity(4, 4)};
  Eigen::VectorXd velocities(4);
  EXPECT_TRUE(stages.step(forces, velocities).converged);
  fresh.q = problem.q;
  fresh.p = problem.p;
  forces.damping *= 3.0;
  EXPECT_TRUE(stages.step(forces, velocities).converged);
  EXPECT_TRUE(StageSolver(scheme, fresh, h).step(forces, velocities).converged);
  const double tolerance = 10.0 * std::numeric_limits<double>::epsilon();
  EXPECT_LE((problem.q - fresh.q).norm(), tolerance * fresh.q.norm());
  EXPECT_LE((problem.p - fresh.p).norm(), tolerance * fresh.p.norm());
}

// The energy of a symplectic method drifts if the errors of its solver always have the same sign. Gauss methods
// conserve the energy of linear motion; the nonlinear term of these springs is negligible, but the solver treats them
// as nonlinear.
TEST(Stages, EnergiesDoNotDriftBySolverErrors) {
  constexpr int steps = 40'000;
  for (const double h : {0.05, 0.1, 0.2}) {
    Problem problem = make_problem(chain(9, false, 0.0, 1e-200), self_world());
    const std::unique_ptr<Stepper> stepper = make_stepper(method_case("gauss(stages=2)").scheme, problem, h);
    const double before = problem.energies().total();
    EXPECT_FALSE(stepper->advance(steps));
    // Round-off of random sign: its sum grows with the square root of the number of steps.
    const double roundoff = 10.0 * std::sqrt(steps) * std::numeric_limits<double>::epsilon();
    EXPECT_NEAR(problem.energies().total(), before, roundoff * before) << h;
  }
}

// The same for linear equations, in steps that are short for the forces and in steps that are long for them.
TEST(Stages, EnergiesOfLinearMotionDoNotDrift) {
  constexpr int steps = 40'000;
  for (const double h : {0.1, 0.3, 3.0, 30.0}) {
    Problem problem = make_problem(linear(), self_world());
    const std::unique_ptr<Stepper> stepper = make_stepper(method_case("gamma(gamma=0.500000)").scheme, problem, h);
    const double before = problem.energies().total();
    EXPECT_FALSE(stepper->advance(steps));
    const double roundoff = 10.0 * std::sqrt(steps) * std::numeric_limits<double>::epsilon();
    EXPECT_NEAR(problem.energies().total(), before, roundoff * before) << h;
  }
}

}  // namespace
}  // namespace bathline::stages_test
