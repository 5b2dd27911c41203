// A memory kernel at a temperature: Gibbs distributions by the linear map of a step, the balance of noise and kernel of
// each stepper, and the ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/step_matrix.hpp"
#include "method_cases.hpp"
#include "model/environment_catalogue.hpp"
#include "particle_in_well.hpp"
#include "petsc_world.hpp"
#include "solve/dense.hpp"

namespace bathline::warm_memory_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using List = std::vector<double>;
using testing::HasSubstr;

constexpr double kt = 0.7, mass = 1.4, stiffness = 1.1;
/// An oscillation of fast decay, a decay, and an oscillation of slow decay.
const List k{1.3, 0.8, 0.5}, r{0.7, 2.1, 0.4}, w{1.9, 0.0, 1.1};
const double kernel_at_start = k[0] + k[1] + k[2];

std::unique_ptr<Environment> memory(int axes = 1, double temperature = kt) {
  ParticleSystem system;
  system.particles = 1;
  system.axes = axes;
  system.mass = VectorXd::Ones(axes);
  Section section;
  section.set("kind", std::string("memory"), {});
  section.set("name", std::string("m"), {});
  section.set("attach", 0L, {});
  section.set("stiffness", k, {});
  section.set("rate", r, {});
  section.set("frequency", w, {});
  section.set("kT", temperature, {});
  Mistakes mistakes;
  auto built = memory_environment_kind().build(section, system, {0.1, 1.0}, test_world(), mistakes);
  EXPECT_EQ(mistakes.report(), "");
  return built;
}

Problem warm(double quartic, double temperature = kt, std::uint32_t realisation = 0) {
  return particle_in({.mass = mass, .stiffness = stiffness, .quartic = quartic, .q0 = 0.8, .v0 = 0.6},
                     memory(1, temperature), realisation);
}

bool is_supported(const MethodCase& method) {
  return method.method->langevin.takes_noise && method.method->domain == Method::Domain::mechanical &&
         !memory()->unsupported_reason(method.scheme);
}

/// Stationary <x x^T> of x = (q, v, w_0, w_1, w_2, p_0, p_2): mode 1 has no momentum.
MatrixXd stationary(const Scheme& scheme, double h) {
  const std::vector<int> moving{0, 1, 2, 3, 4, 5, 7};
  Problem problem = warm(0.0);
  const MatrixXd added = noise_covariance(scheme, problem, h)(moving, moving);
  const MatrixXd step = step_matrix(scheme, problem, h)(moving, moving);
  return solve_discrete_lyapunov(step.transpose(), added);
}

/// The covariance with q advanced by `ahead` seconds, and the w replaced by the lengths of the springs.
MatrixXd covariance_of_lengths(const MatrixXd& covariance, double ahead) {
  MatrixXd map = MatrixXd::Identity(7, 7);
  map(0, 1) = ahead;
  for (int j = 2; j < 5; ++j) {
    map.row(j) *= -1.0;
    map.row(j) += map.row(0);
  }
  return map * covariance * map.transpose();
}

/// The Gibbs distribution of lengths, with this variance of the velocity.
MatrixXd gibbs(double vv) {
  VectorXd variances(7);
  variances << kt / stiffness, vv, kt / k[0], kt / k[1], kt / k[2], kt * k[0] / (w[0] * w[0]),
      kt * k[2] / (w[2] * w[2]);
  return variances.asDiagonal();
}

TEST(MpiWarmMemory, HasTheGibbsDistributionOfLinearSystems) {
  constexpr double h = 0.5;
  const double lighter = mass - 0.25 * h * h * (stiffness + kernel_at_start);
  const auto expect = [&](const std::string& name, double ahead, double vv) {
    SCOPED_TRACE(name);
    const MatrixXd actual = covariance_of_lengths(stationary(method_case(name).scheme, h), ahead);
    EXPECT_LT((actual - gibbs(vv)).cwiseAbs().maxCoeff(), 1e-12);
  };
  for (const char* name : {"gamma(gamma=0.500000)", "time-centred", "gauss(stages=1)", "gauss(stages=2)",
                           "gauss(stages=3)", "gauss(stages=4)"}) {
    expect(name, 0.0, kt / mass);
  }
  // Kick-first schemes have the velocities of an oscillator that is too light, drift-first schemes those of one that is
  // too heavy; the product of both variances is (kT/m)^2.
  for (const char* name : {"stoermer-verlet(order_of_substeps=kick-drift-kick)", "gjf", "baoab", "lobatto(stages=2)"}) {
    expect(name, 0.0, kt * lighter / (mass * mass));
  }
  expect("stoermer-verlet(order_of_substeps=drift-kick-drift)", 0.0, kt / lighter);
  expect("gamma(gamma=0.000000)", 0.5 * h, kt / lighter);
  expect("gamma(gamma=1.000000)", -0.5 * h, kt / lighter);
}

// Each drift of a splitting that is not symmetric has random numbers of its own. Two of these kicks and drifts in a
// step are two steps of half the length, but for the exact flow, whose noise is the same in law.
TEST(MpiWarmMemory, TwoDriftsInAStepAreTwoSteps) {
  using enum Substep::Kind;
  const Scheme one = splitting({{drift, 1.0}, {kick, 1.0}});
  const Scheme two = splitting({{drift, 0.25}, {kick, 0.25}, {drift, 0.75}, {kick, 0.75}});
  const Scheme halves = splitting({{drift, 0.5}, {kick, 0.5}, {drift, 0.5}, {kick, 0.5}});
  EXPECT_LT((stationary(halves, 0.5) - stationary(one, 0.25)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(stationary(two, 0.02)(1, 1), kt / mass, 0.02 * kt / mass);
}

TEST(MpiWarmMemory, OtherMethodsAreWrongByTheirOrder) {
  int count = 0;
  for (const char* name : {"lobatto(stages=3)", "lobatto(stages=4)"}) {
    const MethodCase& method = method_case(name);
    ASSERT_TRUE(is_supported(method));
    const auto error = [&](double h) {
      return (covariance_of_lengths(stationary(method.scheme, h), 0.0) - gibbs(kt / mass)).norm();
    };
    EXPECT_NEAR(std::log2(error(0.4) / error(0.2)), method.properties.order, 0.15) << name;
    ++count;
  }
  EXPECT_EQ(count, 2);
}

/// Forces on the head by step, per unit of their source: for every source of noise until the first of them, and for a
/// unit displacement of the head before it.
struct Forces {
  std::vector<List> noise_responses;
  List motion_response;
};

constexpr int lags = 12;

/// <F_0 F_n> with a clamped head.
List autocorrelation(const Forces& forces) {
  List sums(lags);
  for (const List& response : forces.noise_responses) {
    for (int n = 0; n < lags; ++n) sums[n] += response[0] * response[n];
  }
  return sums;
}

/// The sources of noise: the variables of the start with their spreads, and the numbers of the first step.
Forces forces_of(const std::function<List(Environment& environment, bool head_moves)>& run) {
  const auto from = [&](int variable, int number, bool head_moves) {
    const auto environment = memory();
    environment->prepare({});
    for (StateField& field : environment->fields()) std::fill(field.values.begin(), field.values.end(), 0.0);
    if (variable >= 0 && test_world().is_root()) {
      const int mode = variable % 3;
      double& value = environment->field(variable < 3 ? "w" : "p", 0).values[static_cast<std::size_t>(mode)];
      value = std::sqrt(kt * (variable < 3 ? 1.0 / k[mode] : w[mode] > 0.0 ? k[mode] / (w[mode] * w[mode]) : 0.0));
    }
    dynamic_cast<Noisy&>(*environment).noise()->set_source([=](std::int64_t step, int draw, std::span<double> numbers) {
      std::fill(numbers.begin(), numbers.end(), 0.0);
      const int index = number - 100 * draw;
      if (step == 0 && index >= 0 && index < static_cast<int>(numbers.size())) {
        numbers[static_cast<std::size_t>(index)] = 1.0;
      }
    });
    return run(*environment, head_moves);
  };
  Forces forces;
  for (int variable = 0; variable < 6; ++variable) forces.noise_responses.push_back(from(variable, -1, false));
  for (int number = 0; number < 200; ++number) forces.noise_responses.push_back(from(-1, number, false));
  forces.motion_response = from(-1, -1, true);
  return forces;
}

// <F_n F_0> + <F_n+1 F_0> = 2 kT G_n, with G_n the force at a kick after a displacement of the head by one between the
// kick before the first and the first.
TEST(WarmMemory, NoiseBalancesTheKernelOfSplittings) {
  constexpr double h = 0.6;
  for (const char* name :
       {"stoermer-verlet(order_of_substeps=drift-kick-drift)", "gamma(gamma=0.000000)", "gamma(gamma=1.000000)"}) {
    SCOPED_TRACE(name);
    const auto scheme = std::get<ExplicitScheme>(method_case(name).scheme).merged();
    const bool kicks_first = scheme.substeps.front().kind == Substep::Kind::kick;
    const bool drifts_around = scheme.substeps.size() == 3;
    const Forces forces = forces_of([&](Environment& environment, bool head_moves) {
      List recorded;
      const auto environment_stepper = environment.explicit_stepper(scheme, h);
      double x = 0.0, v = 0.0, force = 0.0;
      // The head moves between two kicks; recording begins with the second.
      int kicks = drifts_around || kicks_first ? -1 : 0;
      if (!head_moves && kicks < 0) kicks = 0;
      if (head_moves && kicks == 0) v = 1.0 / h;
      while (static_cast<int>(recorded.size()) < lags) {
        for (const Substep& substep : scheme.substeps) {
          const HeadMotion head{{&x, 1}, {&v, 1}};
          if (substep.kind == Substep::Kind::kick) {
            environment_stepper->force(head, {&force, 1});
            if (kicks >= 0) recorded.push_back(force);
            environment_stepper->substep(substep, head);
            v = head_moves && kicks == -1 ? 1.0 / h : 0.0;
            ++kicks;
          } else {
            environment_stepper->substep(substep, head);
            x += substep.weight * h * v;
          }
        }
      }
      recorded.resize(lags);
      return recorded;
    });
    const List products = autocorrelation(forces);
    for (int n = 0; n + 1 < lags; ++n) {
      EXPECT_NEAR(products[n] + products[n + 1], -2.0 * kt * forces.motion_response[n], 1e-14) << n;
    }
    EXPECT_GT(products[0], 0.5 * kt * kernel_at_start);
  }
}

// <F_n F_0> = kT Gamma_n for n > 0, twice that for 0, with Gamma_n the force n steps after a unit of stage velocity.
TEST(WarmMemory, NoiseBalancesTheKernelOfTheMidpointRule) {
  constexpr double h = 0.6;
  const auto& scheme = std::get<PartitionedRungeKutta>(method_case("gamma(gamma=0.500000)").scheme);
  const Forces forces = forces_of([&](Environment& environment, bool head_moves) {
    List recorded;
    const auto environment_stepper = environment.implicit_stepper(scheme, h);
    double x = 0.0;
    StageResponse response;
    for (int step = 0; step < lags; ++step) {
      const double v = head_moves && step == 0 ? 1.0 / h : 0.0;
      EXPECT_TRUE(environment_stepper->condense({&x, 1}, response));
      recorded.push_back(response.constant(0, 0) - response.damping(0, 0) * v);
      environment_stepper->back_substitute(MatrixXd::Constant(1, 1, v));
      x += h * v;
    }
    return recorded;
  });
  const List products = autocorrelation(forces);
  for (int n = 0; n < lags; ++n) {
    EXPECT_NEAR(products[n], -kt * forces.motion_response[n] * (n == 0 ? 2.0 : 1.0), 1e-14) << n;
  }
}

// Means of 20000 realisations: 5 standard errors are missed by one seed in a million.
TEST(WarmMemory, StartsFromItsGibbsDistribution) {
  constexpr int realisations = 20000;
  const auto environment = memory(2);
  double sums[8] = {};
  for (std::uint32_t i = 0; i < realisations; ++i) {
    environment->prepare({11, i, 3});
    const auto value_of = [&](const char* name, int axis, std::size_t mode) {
      return environment->field(name, axis).values[mode];
    };
    const double values[] = {k[0] * std::pow(value_of("w", 0, 0), 2), k[1] * std::pow(value_of("w", 1, 1), 2),
                             w[0] * w[0] / k[0] * std::pow(value_of("p", 1, 0), 2),
                             w[2] * w[2] / k[2] * std::pow(value_of("p", 0, 2), 2)};
    for (int j = 0; j < 4; ++j) sums[j] += values[j] / kt / realisations;
    sums[4] += value_of("w", 0, 0) * value_of("w", 1, 0) * k[0] / kt / realisations;
    sums[5] += value_of("w", 0, 0) * value_of("w", 0, 1) * std::sqrt(k[0] * k[1]) / kt / realisations;
    sums[6] += value_of("w", 0, 0) * value_of("p", 0, 0) * w[0] / kt / realisations;
    EXPECT_EQ(value_of("p", 0, 1), 0.0);
  }
  for (int j = 0; j < 4; ++j) EXPECT_NEAR(sums[j], 1.0, 5.0 * std::sqrt(2.0 / realisations));
  for (int j = 4; j < 7; ++j) EXPECT_NEAR(sums[j], 0.0, 5.0 * std::sqrt(1.0 / realisations));
}

// With random numbers instead of variances: force on a clamped head over 40000 steps of h = 0.5. Its square
// decorrelates within 1/(2 x 0.4) s, three steps, so 6000 are independent and 5 standard errors are 0.09.
TEST(WarmMemory, ForceOnAClampedHeadHasTheKernelAsAutocorrelation) {
  constexpr double h = 0.5;
  constexpr int steps = 40000;
  const auto environment = memory();
  environment->prepare({11, 0, 0});
  const auto& scheme = std::get<PartitionedRungeKutta>(method_case("gauss(stages=2)").scheme);
  const auto environment_stepper = environment->implicit_stepper(scheme, h);
  const double x = 0.0;
  StageResponse response;
  List forces;
  for (int step = 0; step < steps; ++step) {
    double force = 0.0;
    environment->force({&x, 1}, {&force, 1});
    forces.push_back(force);
    ASSERT_TRUE(environment_stepper->condense({&x, 1}, response));
    environment_stepper->back_substitute(MatrixXd::Zero(2, 1));
  }
  for (int lag = 0; lag < 6; ++lag) {
    double mean = 0.0, kernel = 0.0;
    for (int step = 0; step + lag < steps; ++step) mean += forces[step] * forces[step + lag] / (steps - lag);
    for (int j = 0; j < 3; ++j) kernel += k[j] * std::exp(-r[j] * lag * h) * std::cos(w[j] * lag * h);
    EXPECT_NEAR(mean / (kt * kernel_at_start), kernel / kernel_at_start, 0.09) << lag;
  }
}

TEST(MpiWarmMemory, LedgerCloses) {
  constexpr int steps = 2000;
  constexpr double h = 0.2;
  for (const MethodCase& method : method_cases()) {
    if (!is_supported(method)) continue;
    SCOPED_TRACE(method.name);
    Problem problem = warm(0.0);
    const auto stepper = make_stepper(method.scheme, problem, h);
    const auto [heat, worst] = LedgerWalk(problem, *stepper, steps, &EnergyLedger::dissipated);
    EXPECT_GT(heat, 100.0);
    if (method.properties.quadratic_invariants) {
      // One rounding of the sum per step.
      EXPECT_LT(worst, 2.3e-16 * steps * heat);
    } else {
      // The undamped steps exchange energies of some kT, with relative errors of h omega = 0.3 or its square.
      EXPECT_LT(worst, 0.01 * heat);
    }
  }
}

TEST(WarmMemory, RefusesSchemesWithoutABalance) {
  const auto reason = [](const char* name) {
    return memory()->unsupported_reason(method_case(name).scheme).value_or("");
  };
  EXPECT_THAT(reason("gamma(gamma=0.250000)"), HasSubstr("unless gamma is 0, 0.5 or 1"));
  EXPECT_THAT(reason("rk4"), HasSubstr("explicit stages"));
  EXPECT_THAT(reason("exact"), HasSubstr("white noise only"));
  EXPECT_FALSE(memory(1, 0.0)->unsupported_reason(method_case("gamma(gamma=0.250000)").scheme));
  EXPECT_FALSE(memory(1, 0.0)->unsupported_reason(method_case("exact").scheme));
}

}  // namespace
}  // namespace bathline::warm_memory_test
