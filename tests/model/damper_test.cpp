// The environment `damper`: in closed runs it is the damping and the noise of open ones, the ledger has its heat, and
// beside other environments the methods have the distributions that they state.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "method_cases.hpp"
#include "model/environment_catalogue.hpp"
#include "petsc_world.hpp"
#include "quartic_potential.hpp"
#include "recipe_text.hpp"
#include "scene.hpp"
#include "steppers/stepper.hpp"
#include "study/run_study.hpp"

namespace bathline::damper_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct DamperKeys {
  long particle;
  double damping, temperature;
};
const std::vector<DamperKeys> two_dampers = {{0, 0.8, 0.7}, {1, 0.3, 1.9}};

std::unique_ptr<Environment> build(const DamperKeys& keys, const ParticleSystem& system) {
  Section section;
  section.set("kind", std::string("damper"), {});
  section.set("name", "damper" + std::to_string(keys.particle), {});
  section.set("attach", keys.particle, {});
  section.set("damping", keys.damping, {});
  section.set("kT", keys.temperature, {});
  Mistakes mistakes;
  auto environment = environments().find("damper")->build(section, system, {0.1, 1.0}, test_world(), mistakes);
  EXPECT_TRUE(mistakes.empty()) << mistakes.report();
  return environment;
}

ParticleSystem two_particles(bool linear) {
  RandomNumbers random(17);
  ParticleSystem system = random_particles(2, 2, random);
  const MatrixXd half = random_matrix(4, 4, random), stiffness = half * half.transpose() + MatrixXd::Identity(4, 4);
  if (linear) {
    system.potential = std::make_shared<QuadraticPotential>(stiffness);
  } else {
    system.potential = std::make_shared<QuarticPotential>(stiffness, 0.4);
  }
  return system;
}

/// Closed with dampers, or open with their damping and noise.
Problem make(const ParticleSystem& system, const std::vector<DamperKeys>& dampers, bool closed) {
  std::vector<std::unique_ptr<Environment>> all;
  MatrixXd damping = MatrixXd::Zero(4, 4), diffusion = damping;
  for (const DamperKeys& keys : dampers) {
    if (closed) all.push_back(build(keys, system));
    damping.diagonal().segment(2 * keys.particle, 2).setConstant(keys.damping);
    diffusion.diagonal().segment(2 * keys.particle, 2).setConstant(keys.damping * keys.temperature);
  }
  Problem problem(system, closed ? MatrixXd::Zero(4, 4) : damping, std::move(all), test_world());
  if (!closed && !diffusion.isZero(0.0)) problem.add_noise(diffusion);
  problem.prepare(7, 2);
  return problem;
}

std::vector<DamperKeys> cold(std::vector<DamperKeys> dampers) {
  for (DamperKeys& keys : dampers) keys.temperature = 0.0;
  return dampers;
}

TEST(MpiDamper, AloneIsTheOpenRunInEveryBit) {
  int noisy = 0;
  for (const MethodCase& method : method_cases()) {
    for (const bool warm : {false, true}) {
      if (warm && !method.method->langevin.takes_noise) continue;
      noisy += warm ? 1 : 0;
      SCOPED_TRACE(method.name + (warm ? ", warm" : ", cold"));
      const Scheme scheme = warm ? method.method->langevin_scheme(method.options) : method.scheme;
      const ParticleSystem system = two_particles(std::holds_alternative<ExactFlow>(scheme));
      // One damper alone is advanced by the steppers of few particles.
      for (const std::size_t count : {1, 2}) {
        const std::vector<DamperKeys> some(two_dampers.begin(),
                                           two_dampers.begin() + static_cast<std::ptrdiff_t>(count));
        Problem closed = make(system, warm ? some : cold(some), true),
                open = make(system, warm ? some : cold(some), false);
        EXPECT_EQ(closed.noise() != nullptr, warm);
        EXPECT_FALSE(make_stepper(scheme, closed, 0.05)->advance(40));
        EXPECT_FALSE(make_stepper(scheme, open, 0.05)->advance(40));
        closed.broadcast_particles();
        open.broadcast_particles();
        EXPECT_EQ(closed.q, open.q);
        EXPECT_EQ(closed.p, open.p);
        EXPECT_NE(closed.p, system.mass.cwiseProduct(system.v0));
        EXPECT_NEAR(closed.energies().total(), open.energies().total(), 1e-12);
      }
    }
  }
  EXPECT_GT(noisy, 20);
}

// Under the midpoint rule an uncoupled particle loses to its damper the energy that it has lost, up to round-off.
TEST(MpiDamper, HasItsHeatInTheLedgerUnderItsName) {
  ParticleSystem system = two_particles(true);
  system.potential = std::make_shared<QuadraticPotential>(MatrixXd(VectorXd{{1.0, 1.5, 2.0, 0.7}}.asDiagonal()));
  for (const char* name : {"gamma(gamma=0.500000)", "time-centred", "gauss(stages=2)", "baoab", "gjf",
                           "stoermer-verlet(order_of_substeps=drift-kick-drift)", "yoshida4", "rk4"}) {
    SCOPED_TRACE(name);
    const MethodCase& method = method_case(name);
    const bool warm = method.method->langevin.takes_noise;
    const Scheme scheme = warm ? method.method->langevin_scheme(method.options) : method.scheme;
    const bool is_exact = std::holds_alternative<PartitionedRungeKutta>(scheme);
    Problem problem = make(system, warm ? two_dampers : cold(two_dampers), true);
    const auto energy = [&](int particle) {
      problem.broadcast_particles();
      VectorXd hessian{{1.0, 1.5, 2.0, 0.7}};
      return 0.5 * (problem.p.cwiseAbs2().cwiseQuotient(system.mass) + problem.q.cwiseAbs2().cwiseProduct(hessian))
                       .segment(2 * particle, 2)
                       .sum();
    };
    const double before[] = {energy(0), energy(1)};
    EXPECT_FALSE(make_stepper(scheme, problem, 0.02)->advance(300));
    const EnergyLedger ledger = problem.energies();
    ASSERT_EQ(ledger.environment_energies.size(), 2u);
    double sum = 0.0;
    for (int particle : {0, 1}) {
      const double heat = ledger.environment_energies[static_cast<std::size_t>(particle)].dissipated;
      EXPECT_NEAR(heat, before[particle] - energy(particle), is_exact ? 1e-12 : 2e-3);
      EXPECT_NE(heat, 0.0);
      sum += heat;
    }
    EXPECT_NEAR(sum, ledger.dissipated, 1e-13);
  }
}

// The heat of the damper alone is D times the squares of the displacements of the midpoint rule over h; the force of
// the system dissipates too.
TEST(MpiDamper, IsToldApartFromTheFrictionOfTheSystem) {
  const auto read = [](const std::string& method) {
    return read_recipe(R"(title = "t"
[system]
kind = "coupled-van-der-pol"
epsilon = 0.5
rho = 0.1
lambda = 0.3
q0 = [1.0, 0.4]
[[environments]]
name = "d"
kind = "damper"
attach = 1
damping = 0.6
[time]
step = 0.02
end = 4.0
[[integrators]]
on = "closed"
)" + method);
  };
  const auto heat = [&](const std::string& method, double& sum) {
    const ReadRecipe recipe = read(method);
    EXPECT_EQ(recipe.report(), "");
    const Case& this_case = recipe.experiment->cases().front();
    Problem problem = recipe.experiment->make_problem(this_case);
    problem.prepare();
    const auto stepper = make_stepper(this_case.scheme, problem, 0.02);
    sum = 0.0;
    for (int step = 0; step < 200; ++step) {
      problem.broadcast_particles();
      const double before = problem.q[1];
      stepper->advance(1);
      problem.broadcast_particles();
      sum += 0.6 * std::pow(problem.q[1] - before, 2) / 0.02;
    }
    const EnergyLedger ledger = problem.energies();
    EXPECT_GT(std::abs(ledger.dissipated - sum), 0.05);
    return ledger.environment_energies.front().dissipated;
  };
  double sum = 0.0;
  const double heat_of_midpoint = heat("method = \"gamma\"\ngamma = 0.5\n", sum);
  EXPECT_NEAR(heat_of_midpoint, sum, 1e-13);
  for (const char* method : {"rk4", "stoermer-verlet", "baoab", "gauss", "lobatto"}) {
    SCOPED_TRACE(method);
    const double heat_of_method = heat("method = \"" + std::string(method) + "\"\n", sum);
    EXPECT_NEAR(heat_of_method, sum, 1e-3);
    EXPECT_GT(sum, 0.02);
  }
}

const char* const damper = "[[environments]]\nname = \"damper\"\nkind = \"damper\"\ndamping = 0.5\nkT = 1.0\n";
const char* const memory =
    "[[environments]]\nname = \"memory\"\nkind = \"memory\"\nstiffness = [2.0]\nrate = [1.5]\nfrequency = [0.0]\n";

std::string covariance(const std::string& system, const std::string& environments, const std::string& method,
                       const std::string& step = "0.3") {
  return "title = \"t\"\n[system]\nkind = \"linear\"\n" + system + environments + "[time]\nstep = " + step +
         "\nend = 3.0\n[[integrators]]\nname = \"run\"\non = \"closed\"\nmethod = " + method +
         "\n[study]\nkind = \"covariance\"\n";
}

// An oscillator with m = k = kT = 1 and a memory with gamma(0) = 2. The distributions are those of an oscillator that
// has the memory's springs, too: with S = m - eta D - eta^2 (k + gamma(0)), eta = (1/2 - gamma) h, the family `gamma`
// has <vv> = 1/S, <qv> = -eta/S, <qq> = 1 + eta^2/S. Other numbers are from the Lyapunov equation of the composed maps
// of q, p and the memory's variable, by another program.
TEST(Damper, BesideAMemoryMethodsHaveTheDistributionsThatTheyState) {
  const double reduced = 1.0 - 0.3 * 0.3 * 3.0 / 4.0;
  const auto of_gamma = [](double gamma) {
    const double eta = (0.5 - gamma) * 0.3, s = 1.0 - 0.5 * eta - 3.0 * eta * eta;
    return std::array{1.0 + eta * eta / s, -eta / s, 1.0 / s};
  };
  const std::pair<const char*, std::array<double, 3>> cases[] = {
      {"\"baoab\"", {1.0, 0.0, reduced}},           {"\"gjf\"", {1.0, 0.0, reduced}},
      {"\"stoermer-verlet\"", {1.0, 0.0, reduced}}, {"\"position-verlet\"", {1.0, 0.0, 1.0 / reduced}},
      {"\"gamma\"\ngamma = 0.0", of_gamma(0.0)},    {"\"gamma\"\ngamma = 0.5", of_gamma(0.5)},
      {"\"gamma\"\ngamma = 1.0", of_gamma(1.0)},    {"\"time-centred\"", {1.0, 0.0, 1.0}},
      {"\"gauss\"\nstages = 1", {1.0, 0.0, 1.0}},   {"\"gauss\"\nstages = 3", {1.0, 0.0, 1.0}},
  };
  for (const auto& [method, expected] : cases) {
    SCOPED_TRACE(method);
    const RunStudy run(
        covariance("M = [1.0]\nK = [1.0]\nq0 = [0.3]\n", damper + (memory + std::string("kT = 1.0\n")), method));
    EXPECT_NEAR(run.value("covariance/run/qq"), expected[0], 1e-12);
    EXPECT_NEAR(run.value("covariance/run/qv"), expected[1], 1e-12);
    EXPECT_NEAR(run.value("covariance/run/vv"), expected[2], 1e-12);
    EXPECT_NEAR(run.value("covariance/langevin/vv"), 1.0, 1e-12);
  }
  EXPECT_NEAR(of_gamma(0.0)[2], 1.1661807580174925, 1e-15);
  EXPECT_NEAR(of_gamma(1.0)[2], 0.9925558312655088, 1e-15);
}

// Two particles between a damper at kT = 1 and a memory at kT = 2: the Lyapunov equation in continuous time, by another
// program; the midpoint rule has the same covariance at any step.
TEST(MpiDamper, ConductsHeatToAMemory) {
  const RunStudy run(covariance("M = [1.0, 2.0]\nK = [[1.5, -0.5], [-0.5, 2.5]]\nq0 = [0.0, 0.0]\n",
                                damper + (memory + std::string("attach = 1\nkT = 2.0\n")), "\"time-centred\""));
  for (const char* label : {"run", "langevin"}) {
    const std::string group = std::string("covariance/") + label + "/";
    const std::vector<double> qq = run.values(group + "qq"), vv = run.values(group + "vv");
    EXPECT_NEAR(qq[0], 0.82936202920830, 1e-12);
    EXPECT_NEAR(qq[1], 0.21137586471945, 1e-12);
    EXPECT_NEAR(qq[3], 0.79093005380477, 1e-12);
    EXPECT_NEAR(vv[0], 1.1383551114527, 1e-12);
    EXPECT_NEAR(vv[3], 0.91275941583397, 1e-12);
    EXPECT_NEAR(run.values(group + "qv")[1], -0.13835511145273, 1e-12);
    EXPECT_NEAR(run.values(group + "heat")[0], -0.069177555726364, 1e-12);
    EXPECT_NEAR(run.values(group + "heat")[1], 0.0, 1e-14);
  }
}

// In the middle of its friction step `baoab` leaves the density exp(-(p M^-1 p + q K (1 - h^2 M^-1 K/4)^-1 q)/2kT) of
// particle and line together unchanged, for any friction, and half a drift later <q q^T> = kT K^-1; `gjf` has the same
// positions. <v^2> of drifts at the ends is that of a wave between two kicks, an integral over all frequencies by
// another program.
TEST(Damper, IsInEquilibriumWithAThermalLine) {
  const std::string line =
      "[[environments]]\nname = \"line\"\nkind = \"spring-mass-line\"\nsites = \"infinite\"\nM = 0.5\n"
      "lambda = 2.0\ntolerance = 1e-8\nkT = 1.0\n";
  const auto variances = [&](const char* method) {
    const RunStudy run(covariance("M = [1.0]\nK = [1.0]\nq0 = [0.0]\n", damper + line, method, "0.2"));
    return std::pair(run.value("covariance/run/qq"), run.value("covariance/run/vv"));
  };
  const auto midpoint = variances("\"gamma\"\ngamma = 0.5"), drifts_first = variances("\"position-verlet\"");
  EXPECT_NEAR(midpoint.first, 1.0, 1e-6);
  EXPECT_NEAR(midpoint.second, 1.0, 1e-6);
  EXPECT_NEAR(drifts_first.first, 1.0, 1e-6);
  EXPECT_NEAR(drifts_first.second, 1.0318546, 1e-6);
  EXPECT_NEAR(variances("\"gjf\"").first, 1.0, 1e-6);
  EXPECT_NEAR(variances("\"baoab\"").first, 1.0, 1e-6);
}

}  // namespace
}  // namespace bathline::damper_test
