// The noise of a semi-infinite line: its balance with the exact kernel, its initial state, the Gibbs distribution of
// linear systems by the responses to single random numbers, the energy ledger, and reproducible random numbers.
#include "model/semi_infinite_line/line_noise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "method_cases.hpp"
#include "model/semi_infinite_line/semi_infinite_line.hpp"
#include "particle_in_well.hpp"
#include "petsc_world.hpp"
#include "rank_subset.hpp"

namespace bathline::line_noise_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using List = std::vector<double>;
using testing::HasSubstr;

constexpr double kt = 0.7, mass = 1.4, stiffness = 0.3, line_mass = 0.6, h = 0.25;
double lambda_for(double courant) { return line_mass * courant * courant / (h * h); }

std::unique_ptr<Environment> semi_infinite(double courant, double temperature = kt, int axes = 1) {
  return std::make_unique<SemiInfiniteLine>("line", Attachment({{0, 1.0}}, axes),
                                            SemiInfiniteLineOptions{.mass = line_mass,
                                                                    .stiffness = lambda_for(courant),
                                                                    .horizon = 1000 * h,
                                                                    .temperature = temperature,
                                                                    .step = h,
                                                                    .end = 1000 * h},
                                            test_world());
}

Problem warm_problem(double courant, double quartic, std::uint32_t realisation = 0, double q0 = 0.0) {
  return particle_in({.mass = mass, .stiffness = stiffness, .quartic = quartic, .q0 = q0}, semi_infinite(courant),
                     realisation);
}

struct NoisyMethod {
  std::string name;
  double g;
  Scheme scheme;
};

/// The methods with noise and their g; for alternating kicks and drifts g depends on where a step begins, and the
/// kernel is that of g = 0.
std::vector<NoisyMethod> noisy_methods() {
  std::vector<NoisyMethod> all;
  const std::pair<const char*, double> catalogue_methods[] = {
      {"gamma(gamma=0.000000)", 0.0},
      {"gamma(gamma=0.500000)", 0.5},
      {"gamma(gamma=1.000000)", 1.0},
      {"time-centred", 0.5},
      {"gauss(stages=1)", 0.5},
      {"gauss(stages=2)", 0.5},
      {"gauss(stages=3)", 0.5},
      {"gauss(stages=4)", 0.5},
      {"stoermer-verlet(order_of_substeps=drift-kick-drift)", 0.0},
      {"stoermer-verlet(order_of_substeps=kick-drift-kick)", 0.0},
      {"lobatto(stages=2)", 0.0}};
  for (const auto& [name, g] : catalogue_methods) all.push_back({name, g, method_case(name).scheme});
  for (const double g : {0.07, 0.3, 0.49, 0.52, 0.8}) {
    all.push_back({"gamma(gamma=" + std::to_string(g) + ")", g, one_stage(1.0 - g, g)});
  }
  return all;
}

/// Whether a step has kicks before and after a drift.
bool kicks_at_both_ends(const std::string& name) {
  return name.find("kick-drift-kick") != std::string::npos || name.starts_with("lobatto");
}

std::shared_ptr<const NoiseFilter> filter_of(double courant, double g) {
  const double forever = KernelAccuracy::forever;
  return line_parts(DiscreteLine(courant, g), 1e-12, forever, 1000.0, true)->noise;
}

ConvolutionState room(const LineNoise& noise) {
  ConvolutionState state;
  noise.shape().allocate(state);
  return state;
}

/// C_n + C_{n+1} = 2 G_n, with G from Legendre polynomials.
void expect_balance(const List& covariances, double courant, double g) {
  const List exact = exact_line_kernel(DiscreteLine(courant, g), static_cast<int>(covariances.size()) + 1);
  for (std::size_t n = 0; n + 1 < covariances.size(); ++n) {
    const double kernel = exact[n + 1] + (n == 0 ? exact[0] : 0.0);
    EXPECT_NEAR(covariances[n] + covariances[n + 1], 2.0 * kernel, 1e-10)
        << "g = " << g << ", c = " << courant << ", " << n;
  }
}

const std::vector<std::pair<double, double>> kernels = {{0.0, 0.5}, {0.0, 0.95}, {0.0, 1.0}, {0.3, 0.4}, {0.25, 2.0},
                                                        {0.5, 0.3}, {0.5, 3.0},  {0.8, 0.5}, {1.0, 0.7}};

// <R^k R^{k+n}> from all random numbers that R^k depends on: those of the start and of the steps before. The spectrum
// has its largest error in the gap, where its terms cancel; covariances are means over all angles.
TEST(LineNoise, BalancesTheExactKernelFromItsStart) {
  constexpr int lags = 40;
  for (const auto& [g, courant] : kernels) {
    const DiscreteNoise noise(filter_of(courant, g), 1.0);
    EXPECT_LT(noise.error(), 1e-9) << "g = " << g << ", c = " << courant;
    List numbers(noise.start_numbers());
    for (const int first : {0, 25}) {
      List covariances(lags);
      const auto add = [&](int start_index, int step_index) {
        ConvolutionState state = room(noise);
        if (start_index >= 0) numbers[static_cast<std::size_t>(start_index)] = 1.0;
        noise.start(numbers, state);
        if (start_index >= 0) numbers[static_cast<std::size_t>(start_index)] = 0.0;
        List forces;
        for (int n = 0; n < first + lags; ++n) {
          const double number = n == step_index ? 1.0 : 0.0;
          noise.forces(state, {&number, 1}, {&forces.emplace_back(), 1});
          noise.commit(state, {&number, 1});
        }
        for (int n = 0; n < lags; ++n) covariances[n] += forces[first] * forces[first + n];
      };
      for (std::size_t start_index = 0; start_index < numbers.size(); ++start_index)
        add(static_cast<int>(start_index), -1);
      for (int step_index = 0; step_index <= first; ++step_index) add(-1, step_index);
      expect_balance(covariances, courant, g);
    }
  }
}

// Tolerances with which the spectrum has minima close to 0, Courant numbers close to the stability limit, and kernels
// with many first terms.
TEST(LineNoise, FactorsEverySpectrum) {
  struct Case {
    double courant, g, tolerance;
  };
  for (const auto& [courant, g, tolerance] :
       {Case{0.0741242452, 0.5, 1.353e-3}, Case{3.0345395821, 0.5, 7.229e-4}, Case{0.0824710942, 0.0, 5.760e-4},
        Case{0.4111705945, 0.7783888, 6.766e-5}, Case{0.9999999169, 0.0, 4.350e-6}, Case{990.0, 0.5, 1e-12},
        Case{0.003, 0.0, 1e-6}}) {
    const auto parts = line_parts(DiscreteLine(courant, g), tolerance, KernelAccuracy::forever, 1000.0, true);
    EXPECT_LT(parts->noise->error, 1e-9) << "c = " << courant << ", g = " << g << ", " << tolerance;
  }
}

/// <x x^T> of x = (q, v) `steps` steps after <x x^T> = root root^T, from the responses to all random numbers: those of
/// the initial particle and line, and those of the steps.
MatrixXd covariance_after(int steps, const MatrixXd& root, const Scheme& scheme, double courant) {
  MatrixXd sum = MatrixXd::Zero(2, 2);
  const auto respond = [&](const Eigen::Vector2d& x0, int start_index, int step_index, bool adds_all) {
    Problem problem = warm_problem(courant, 0.0, 0, x0[0]);
    problem.p[0] = mass * x0[1];
    auto& line = dynamic_cast<SemiInfiniteLine&>(*problem.environments()[0]);
    const auto stepper = make_stepper(scheme, problem, h);
    const LineNoise& noise = *line.random_source();
    if (start_index >= static_cast<int>(noise.start_numbers())) return false;
    if (step_index >= static_cast<int>(noise.stages())) return false;
    List numbers(noise.start_numbers());
    if (start_index >= 0) numbers[static_cast<std::size_t>(start_index)] = 1.0;
    ConvolutionState state = room(noise);
    noise.start(numbers, state);
    for (StateField& field : line.fields()) std::fill(field.values.begin(), field.values.end(), 0.0);
    const auto set_field = [&](const char* name, const auto& values) {
      std::copy(values.begin(), values.end(), line.field(name, 0).values.begin());
    };
    set_field("noise_tails", state.next_outputs);
    set_field("noise_due", state.pending);
    set_field("noise_recent", state.input_history);
    set_field("noise_real", state.real);
    set_field("noise_imaginary", state.imaginary);
    line.noise()->set_source([=](std::int64_t step, int, std::span<double> to) {
      std::fill(to.begin(), to.end(), 0.0);
      if (step == 0 && step_index >= 0) to[static_cast<std::size_t>(step_index)] = 1.0;
    });
    for (int n = 1; n <= steps; ++n) {
      EXPECT_FALSE(stepper->advance(1));
      const Eigen::Vector2d x(problem.q[0], problem.p[0] / mass);
      if (adds_all || n == steps) sum += x * x.transpose();
    }
    return true;
  };
  // The response to a number of step k is that to a number of the first step, k steps earlier.
  const Eigen::Vector2d at_rest = Eigen::Vector2d::Zero();
  for (int step_index = 0; respond(at_rest, -1, step_index, true);) ++step_index;
  for (int start_index = 0; respond(at_rest, start_index, -1, false);) ++start_index;
  for (int i = 0; i < 2; ++i) respond(root.col(i), -1, -1, false);
  return sum;
}

/// Certified error of the noise filters, and so the bound on the error of covariances.
constexpr double certified = 1e-9;

// From the first step on, for a line drawn around the particle.
TEST(LineNoise, KeepsTheGibbsDistributionOfLinearSystems) {
  MatrixXd root = MatrixXd::Zero(2, 2);
  root.diagonal() << std::sqrt(kt / stiffness), std::sqrt(kt / mass);
  for (const auto& [name, g, scheme] : noisy_methods()) {
    for (const double courant : {0.4, 0.9, 3.0}) {
      for (const int steps : {1, 2, 50}) {
        if (g != 0.5) continue;
        const MatrixXd actual = covariance_after(steps, root, scheme, courant);
        EXPECT_LT((actual - root * root.transpose()).cwiseAbs().maxCoeff(), certified)
            << name << " " << courant << " " << steps;
      }
    }
  }
}

// The particle's part of the Gibbs distribution of particle and line together, whose measure is exp(-I/2 kT) with I =
// v^T (M - eta^2 K) v + (q + eta v)^T K (q + eta v), eta = (1/2 - g) h, the line's part of M - eta^2 K eliminated; with
// kicks before and after a drift <q q> = kT/K and <p p> = kT (M - h^2 K/4). The influence of a start at rest decays as
// n^-3/2, to 4e-6 after these steps.
TEST(LineNoise, ReachesTheGibbsDistributionOfLinearSystems) {
  constexpr double courant = 0.4;
  for (const auto& [name, g, scheme] : noisy_methods()) {
    if (g == 0.5) continue;
    SCOPED_TRACE(name);
    const bool drifts_at_both_ends = name.find("drift-kick-drift") != std::string::npos;
    const double eta = (0.5 - g) * h, shift = 1.0 - std::sqrt(1.0 - std::pow(2.0 * eta * courant / h, 2));
    double vv = kt / (mass - eta * eta * stiffness - 0.5 * line_mass * shift);
    if (kicks_at_both_ends(name)) vv = kt * (mass - 0.25 * h * h * (stiffness + lambda_for(courant))) / (mass * mass);
    MatrixXd map = MatrixXd::Identity(2, 2);
    if (!kicks_at_both_ends(name) && !drifts_at_both_ends) map(0, 1) = eta;
    const MatrixXd actual = map * covariance_after(4000, MatrixXd::Zero(2, 2), scheme, courant) * map.transpose();
    EXPECT_NEAR(actual(0, 0), kt / stiffness, certified);
    EXPECT_NEAR(actual(1, 1), vv, certified);
    EXPECT_NEAR(actual(0, 1), 0.0, certified);
  }
}

// With random numbers instead of their variances: the force on a clamped head over 40000 steps. Its square is
// uncorrelated after ten steps, so that 5 standard errors of 4000 independent values are 0.11.
TEST(LineNoise, ForceOnAClampedHeadHasTheBalance) {
  constexpr int steps = 40000;
  constexpr double courant = 0.7;
  const auto line = semi_infinite(courant, kt, 2);
  const auto scheme = std::get<ExplicitScheme>(method_case("gamma(gamma=0.000000)").scheme);
  line->prepare({3, 1, 2});
  const auto environment_stepper = line->explicit_stepper(scheme, h);
  if (!test_world().is_root()) return;
  std::vector<List> forces(2);
  const double at_origin[] = {0.0, 0.0};
  for (int step = 0; step < steps; ++step) {
    for (const Substep& substep : scheme.substeps) {
      double force[2];
      environment_stepper->force({at_origin, at_origin}, force);
      if (substep.kind == Substep::Kind::kick) {
        for (int axis = 0; axis < 2; ++axis) forces[axis].push_back(force[axis] / std::sqrt(kt * lambda_for(courant)));
      }
      environment_stepper->substep(substep, {at_origin, at_origin});
    }
  }
  const auto mean = [&](int first, int second, int lag) {
    double sum = 0.0;
    for (int n = 0; n + lag < steps; ++n) sum += forces[first][n] * forces[second][n + lag] / (steps - lag);
    return sum;
  };
  const List exact = exact_line_kernel(DiscreteLine(courant, 0.0), 8);
  for (int axis = 0; axis < 2; ++axis) {
    for (int n = 0; n < 6; ++n) {
      EXPECT_NEAR(mean(axis, axis, n) + mean(axis, axis, n + 1), 2.0 * exact[static_cast<std::size_t>(n) + 1], 0.11)
          << n;
    }
  }
  EXPECT_NEAR(mean(0, 1, 0), 0.0, 0.11);
}

TEST(MpiLineNoise, LedgerCloses) {
  constexpr int steps = 2000;
  RankSubset subset(3);
  for (const auto& [name, g, scheme] : noisy_methods()) {
    if (!subset.takes_next()) continue;
    SCOPED_TRACE(name);
    Problem problem = warm_problem(0.6, 0.0);
    const auto stepper = make_stepper(scheme, problem, h);
    const auto [heat, worst] = LedgerWalk(problem, *stepper, steps, &EnergyLedger::environment);
    EXPECT_GT(heat, 20.0);
    // Round-off of one addition a step if quadratic energies are conserved; otherwise (h omega)^2 or h omega times some
    // kT.
    EXPECT_LT(worst, g == 0.5 ? 2.3e-16 * steps * heat : 0.01 * heat);
  }
}

// With (v + v+)/2 for the work the remaining error for a harmonic potential is eta k q v. For g < 1/2 the filter of
// forces is between two steps: its pending work is h v times its state.
TEST(LineNoise, LedgerErrorOfEveryGammaDoesNotAccumulate) {
  constexpr int steps = 2000;
  for (const auto& [name, g, scheme] : noisy_methods()) {
    if (!name.starts_with("gamma") || g == 0.0 || g == 1.0) continue;
    SCOPED_TRACE(name);
    Problem problem = warm_problem(0.6, 0.0);
    Environment& line = *problem.environments()[0];
    const auto stepper = make_stepper(scheme, problem, h);
    const double eta = (0.5 - g) * h;
    double worst = 0.0, before = 0.0;
    for (int step = 0; step <= steps; ++step) {
      const double v = problem.p[0] / mass, pending = g < 0.5 ? h * line.field("ledger", 0).values[0] : 0.0;
      const double conserved = problem.energies().total() + (eta * stiffness * problem.q[0] - pending) * v;
      if (step == 0) before = conserved;
      worst = std::max(worst, std::abs(conserved - before));
      EXPECT_FALSE(stepper->advance(1));
    }
    EXPECT_LT(worst, 1e-12 * steps);
  }
}

// A problem that is restarted, or whose stepper is made after its preparation, has the same random numbers.
TEST(LineNoise, StartsWithTheSameNumbersAfterARestart) {
  const Scheme& scheme = method_case("gamma(gamma=0.500000)").scheme;
  Problem once = warm_problem(0.6, 0.8, 4), again = warm_problem(0.6, 0.8, 9);
  EXPECT_FALSE(make_stepper(scheme, once, h)->advance(20));
  const auto stepper = make_stepper(scheme, again, h);
  EXPECT_FALSE(stepper->advance(7));
  again.prepare(5, 4);
  again.q = VectorXd::Zero(1);
  again.p = VectorXd::Zero(1);
  EXPECT_FALSE(stepper->advance(20));
  EXPECT_EQ(again.q, once.q);
}

TEST(LineNoise, RefusesMethodsWithNumericalDamping) {
  const auto reason = [](const Scheme& scheme, double temperature) {
    return semi_infinite(0.5, temperature)->unsupported_reason(scheme).value_or("none");
  };
  const Scheme& euler = method_case("implicit-euler").scheme;
  EXPECT_THAT(reason(euler, kt), HasSubstr("damps the waves of `line` numerically"));
  EXPECT_EQ(reason(euler, 0.0), "none");
  for (const auto& [name, g, scheme] : noisy_methods()) EXPECT_EQ(reason(scheme, kt), "none") << name;
}

}  // namespace
}  // namespace bathline::line_noise_test
