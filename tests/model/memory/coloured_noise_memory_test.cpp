// The noise of memories whose modes are passive only as a sum: its covariances, the distribution that it preserves, and
// its agreement with the noise of single modes where these have any.
#include "model/memory/coloured_noise_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/step_matrix.hpp"
#include "steppers/stepper.hpp"
#include "method_cases.hpp"
#include "model/memory/coloured_noise.hpp"
#include "model/memory/from_recipe.hpp"
#include "model/problem.hpp"
#include "petsc_world.hpp"

namespace bathline::coloured_noise_memory_test {
namespace {

using testing::HasSubstr;
using List = std::vector<double>;

const char* const midpoint = "gamma(gamma=0.500000)";
const char* const verlet = "stoermer-verlet(order_of_substeps=kick-drift-kick)";
constexpr double kt = 0.7, stiffness = 1.3, mass = 0.8;

/// Passive as a sum; of the single modes only the last is.
const std::vector<PronyTerm> sum = {{-0.8, 2.0, 0.0, 0.0}, {1.5, 0.7, 1.9, 0.6}, {2.2, 1.1, 0.0, 0.0}};
/// Passive one by one.
const std::vector<PronyTerm> passive_modes = {{0.9, 0.8, 1.2, 0.0}, {0.4, 1.7, 0.0, 0.0}};

std::unique_ptr<Environment> filtered(const std::vector<PronyTerm>& modes, double temperature, int particle = 0) {
  return std::make_unique<ColouredNoiseMemory>("filtered", Attachment({{particle, 1.0}}, 1), modes,
                                               make_classical_bath(modes, temperature), test_world());
}

/// One or two masses between springs and walls.
Problem masses(std::vector<std::unique_ptr<Environment>> environments, int particles, std::uint32_t realisation = 0) {
  ParticleSystem system;
  system.particles = particles;
  system.mass = Eigen::VectorXd::Constant(particles, mass);
  Eigen::MatrixXd springs = Eigen::MatrixXd::Constant(particles, particles, -stiffness);
  springs.diagonal().setConstant(particles == 1 ? stiffness : 2.0 * stiffness);
  system.potential = std::make_shared<QuadraticPotential>(springs);
  system.q0 = system.v0 = Eigen::VectorXd::Zero(particles);
  Problem problem(system, Eigen::MatrixXd::Zero(particles, particles), std::move(environments), test_world());
  problem.prepare(3, realisation);
  return problem;
}

Problem oscillator(std::unique_ptr<Environment> environment, std::uint32_t realisation = 0) {
  std::vector<std::unique_ptr<Environment>> all;
  all.push_back(std::move(environment));
  return masses(std::move(all), 1, realisation);
}

/// <R^k R^{k+n}> by n, some steps after the start, from the responses to all numbers.
List covariances(const LineNoise& noise, int lags) {
  constexpr int first = 3;
  List sums(static_cast<std::size_t>(lags));
  const auto add = [&](const List& start, int of_step) {
    ConvolutionState state;
    noise.shape().allocate(state);
    noise.start(start, state);
    List forces;
    for (int n = 0; n < first + lags; ++n) {
      const double number[] = {n == of_step ? 1.0 : 0.0};
      noise.forces(state, number, {&forces.emplace_back(), 1});
      noise.commit(state, number);
    }
    for (int n = 0; n < lags; ++n) sums[n] += forces[first] * forces[first + n];
  };
  List start(noise.start_numbers());
  for (double& value : start) {
    value = 1.0;
    add(start, -1);
    value = 0.0;
  }
  for (int step = 0; step <= first; ++step) add(start, step);
  return sums;
}

TEST(MemoryNoise, HasTheCovariancesOfTheKernelAtEveryStepOfASplitting) {
  // At the last step a mode rotates by more than half a turn.
  for (const double h : {0.02, 0.3, 2.4}) {
    SCOPED_TRACE(h);
    const auto noise = make_memory_noise(sum, method_case(verlet).scheme, h, kt);
    EXPECT_LT(noise->error(), 1e-13);
    const List actual = covariances(*noise, 12);
    for (std::size_t n = 0; n < actual.size(); ++n) {
      EXPECT_NEAR(actual[n], kt * kernel_at(sum, static_cast<double>(n) * h), 1e-12) << n;
    }
  }
}

// With V = (v + v+)/2 at the stages the midpoint rule makes F^k = -h sum K_n V^{k-n} = -h sum G_n v^{k-n}, n >= -1, of
// a memory, and fluctuation and dissipation are C_n + C_{n+1} = 2 kT G_n, for n = 0 with G_{-1} on top.
TEST(MemoryNoise, HasTheBalanceOfTheMidpointRule) {
  constexpr double h = 0.3;
  const auto at_stages = [&](int n) {
    double all = 0.0;
    for (const PronyTerm& mode : sum) {
      // y' = s y + v, of which F is -Re(weight y).
      const std::complex<double> s(-mode.r, mode.w), weight(mode.k, -mode.b), stage = 1.0 / (1.0 - 0.5 * h * s);
      const std::complex<double> step = (1.0 + 0.5 * h * s) * stage;
      all += (weight * stage * (n == 0 ? 0.5 : stage * std::pow(step, n - 1))).real();
    }
    return all;
  };
  const auto velocity_kernel = [&](int n) { return 0.5 * (at_stages(n) + at_stages(n + 1)); };
  const auto noise = make_memory_noise(sum, method_case(midpoint).scheme, h, kt);
  const List actual = covariances(*noise, 12);
  EXPECT_NEAR(actual[0] + actual[1], 2.0 * kt * (velocity_kernel(0) + 0.5 * at_stages(0)), 1e-12);
  for (int n = 1; n + 1 < 12; ++n) {
    const auto i = static_cast<std::size_t>(n);
    EXPECT_NEAR(actual[i] + actual[i + 1], 2.0 * kt * velocity_kernel(n), 1e-12) << n;
  }
}

TEST(MpiColouredNoiseMemory, KeepsTheGibbsDistributionAtAnyStep) {
  for (const char* name : {midpoint, "time-centred", "gauss(stages=2)", "gauss(stages=3)"}) {
    for (const double h : {0.1, 0.9}) {
      SCOPED_TRACE(name);
      Problem problem = oscillator(filtered(sum, kt));
      const auto covariance = covariance_from_impulse_responses(method_case(name).scheme, problem, h).matrix;
      ASSERT_TRUE(covariance);
      EXPECT_NEAR((*covariance)(0, 0), kt / stiffness, 1e-10);
      EXPECT_NEAR((*covariance)(1, 1), kt / mass, 1e-10);
      EXPECT_NEAR((*covariance)(0, 1), 0.0, 1e-10);
    }
  }
  // Verlet has exact positions, and velocities that depend on the spring of the memory with a clamped head.
  constexpr double h = 0.3;
  const double correction = 0.25 * h * h * (stiffness + kernel_at(sum, 0.0)) / mass;
  const auto covariance_of = [&](const char* name) {
    Problem problem = oscillator(filtered(sum, kt));
    return covariance_from_impulse_responses(method_case(name).scheme, problem, h).matrix.value();
  };
  const Eigen::MatrixXd kicks = covariance_of(verlet),
                        drifts = covariance_of("stoermer-verlet(order_of_substeps=drift-kick-drift)");
  EXPECT_NEAR(kicks(0, 0), kt / stiffness, 1e-10);
  EXPECT_NEAR(drifts(0, 0), kt / stiffness, 1e-10);
  EXPECT_NEAR(kicks(1, 1), kt / mass * (1.0 - correction), 1e-10);
  EXPECT_NEAR(drifts(1, 1), kt / mass / (1.0 - correction), 1e-10);
}

// Two baths of different temperatures: the heat current between them depends on the balance of noise and friction at
// all frequencies.
TEST(MpiColouredNoiseMemory, IsTheNoiseOfSingleModesWhereTheyHaveAny) {
  for (const char* name : {midpoint, verlet}) {
    SCOPED_TRACE(name);
    const auto covariance = [&](std::unique_ptr<Environment> first) {
      std::vector<std::unique_ptr<Environment>> all;
      all.push_back(std::move(first));
      all.push_back(
          std::make_unique<PronyMemory>("second", Attachment({{1, 1.0}}, 1), passive_modes, 0.2, test_world()));
      Problem problem = masses(std::move(all), 2);
      return covariance_from_impulse_responses(method_case(name).scheme, problem, 0.4).matrix.value();
    };
    const Eigen::MatrixXd one_by_one =
        covariance(std::make_unique<PronyMemory>("first", Attachment({{0, 1.0}}, 1), passive_modes, kt, test_world()));
    const Eigen::MatrixXd together = covariance(filtered(passive_modes, kt));
    EXPECT_LT((one_by_one - together).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_GT(std::abs(together(0, 3)), 1e-3);
  }
}

TEST(MpiColouredNoiseMemory, KeepsTheLedger) {
  for (const char* name : {"gauss(stages=2)", verlet}) {
    SCOPED_TRACE(name);
    Problem problem = oscillator(filtered(sum, kt), 7);
    EXPECT_FALSE(make_stepper(method_case(name).scheme, problem, 0.1)->advance(300));
    // The particle starts at rest: its energy comes from the noise.
    EXPECT_NEAR(problem.energies().total(), 0.0, name != verlet ? 1e-12 : 0.02);
    if (!test_world().is_root()) continue;
    EXPECT_GT(std::abs(problem.p[0]), 1e-3);
  }
}

TEST(ColouredNoiseMemory, SupportsGaussAndSymmetricSplittings) {
  for (const MethodCase& method : method_cases()) {
    if (method.method->domain != Method::Domain::mechanical) continue;
    const bool is_supported = !filtered(sum, kt)->unsupported_reason(method.scheme);
    const bool is_gauss = method.name.starts_with("gauss") || method.name == midpoint || method.name == "time-centred";
    const bool is_splitting = method.name.starts_with("stoermer-verlet");
    if (is_gauss || is_splitting) {
      EXPECT_TRUE(is_supported) << method.name;
    } else if (is_supported) {
      EXPECT_TRUE(std::holds_alternative<ExplicitScheme>(method.scheme)) << method.name;
    }
  }
  EXPECT_THAT(filtered(sum, kt)->unsupported_reason(method_case("rk4").scheme).value_or(""),
              HasSubstr("passive only together"));
}

}  // namespace
}  // namespace bathline::coloured_noise_memory_test
