// Quantum noise of a memory: variances of an oscillator in a Drude bath against quantum mechanics, at any step.
#include "model/thermal/quantum_noise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "steppers/stepper.hpp"
#include "method_cases.hpp"
#include "model/environment_catalogue.hpp"
#include "model/lumped/lumped.hpp"
#include "model/problem.hpp"
#include "petsc_world.hpp"

namespace bathline::quantum_noise_test {
namespace {

using testing::HasSubstr;

constexpr double spring = 2.5, rate = 5.0;  // a Drude bath with the damping 0.5 and the cut-off 5
const char* const midpoint = "gamma(gamma=0.500000)";

double friction(double w) { return spring * rate / (rate * rate + w * w); }

/// That bath with noise of prescribed numbers.
class Drude final : public LumpedEnvironment {
 public:
  explicit Drude(double kt)
      : LumpedEnvironment("bath", Attachment({{0, 1.0}}, 1),
                          {.mass = {std::numeric_limits<double>::infinity()},
                           .to_head = {{0, spring}},
                           .mobilities = {{0, rate / spring}}},
                          test_world()),
        spectrum_(quantum_spectrum(friction, kt, 1.0)) {}

  std::size_t reach() const { return noise_->reach(); }

  void prepare(const RngKey& key) override {
    LumpedEnvironment::prepare(key);
    key_ = key;
    heat_.assign(axes().size(), 0.0);
  }
  std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme, double h) override {
    noise_ = std::make_shared<const QuantumNoise>(spectrum_, h);
    numbers_.set_source([reach = reach()](std::int64_t index, int, std::span<double> numbers) {
      numbers[0] = index == 2 * static_cast<std::int64_t>(reach) ? 1.0 : 0.0;
    });
    std::shared_ptr<RandomForce> force = make_quantum_force(noise_);
    force->begin(numbers_, key_, axes().size());
    return with_random_force(LumpedEnvironment::implicit_stepper(scheme, h), scheme, h, force, heat_);
  }

 private:
  std::function<double(double)> spectrum_;
  std::shared_ptr<const QuantumNoise> noise_;
  NoiseStream numbers_;
  RngKey key_;
  std::vector<double> heat_;
};

Problem oscillator(std::unique_ptr<Environment> environment, std::uint32_t realisation = 0) {
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Ones(1);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Ones(1, 1));
  system.q0 = system.v0 = Eigen::VectorXd::Zero(1);
  std::vector<std::unique_ptr<Environment>> all;
  all.push_back(std::move(environment));
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(all), test_world());
  problem.prepare(3, realisation);
  return problem;
}

/// Stationary <q^2> and <p^2>: sums over time of the squared response to one number.
std::pair<double, double> variances(double kt, double h) {
  auto bath = std::make_unique<Drude>(kt);
  const Drude& drude = *bath;
  Problem problem = oscillator(std::move(bath));
  const auto stepper = make_stepper(method_case(midpoint).scheme, problem, h);
  double qq = 0.0, pp = 0.0;
  // The number belongs to step `reach`; the response to it decays like exp(-0.2 t).
  const auto steps = static_cast<int>(2.0 * static_cast<double>(drude.reach()) + 120.0 / h);
  for (int step = 0; step < steps; ++step) {
    EXPECT_FALSE(stepper->advance(1));
    qq += problem.q[0] * problem.q[0];
    pp += problem.p[0] * problem.p[0];
  }
  return {qq, pp};
}

// kT (1/k + 2 sum over n of 1/(m nu^2 + nu g(nu) + k)), nu = 2 pi n kT/hbar, and likewise for p, by another program.
// The filter is truncated where it has decayed to 1e-9 at the largest step, and to 1e-6 at a fifth of it.
TEST(QuantumNoise, HasTheVariancesOfQuantumMechanicsAtAnyStep) {
  for (const double h : {0.1, 0.2, 0.5}) {
    SCOPED_TRACE(h);
    const auto cold = variances(0.05, h), warm = variances(0.2, h), hot = variances(1.0, h);
    EXPECT_NEAR(cold.first, 0.4464513307, 1e-8);
    EXPECT_NEAR(warm.first, 0.4726472835, 1e-8);
    EXPECT_NEAR(hot.first, 1.0801423893, 1e-8);
    EXPECT_NEAR(cold.second, 0.7151553218, 1e-6);
    EXPECT_NEAR(warm.second, 0.7219189136, 1e-6);
    EXPECT_NEAR(hot.second, 1.2122911533, 1e-6);
  }
}

TEST(QuantumNoise, HasTheClassicalLimit) {
  const auto spectrum = quantum_spectrum(friction, 0.7, 1e-12);
  for (const double w : {0.0, 0.3, 4.0}) EXPECT_NEAR(spectrum(w), 2.0 * 0.7 * friction(w), 1e-14);
  EXPECT_NEAR(quantum_spectrum(friction, 0.0, 1.0)(3.0), 3.0 * friction(3.0), 1e-15);
}

std::unique_ptr<Environment> memory(const std::vector<double>& rates, std::string& report, bool quantum = true) {
  Section section;
  section.set("kind", std::string("memory"), {});
  section.set("name", std::string("m"), {});
  section.set("attach", 0L, {});
  section.set("stiffness", std::vector<double>(rates.size(), spring), {});
  section.set("frequency", std::vector<double>(rates.size(), 0.0), {});
  section.set("rate", rates, {});
  section.set("kT", 0.2, {});
  section.set("quantum", quantum, {});
  section.set("hbar", 1.0, {});
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Ones(1);
  Mistakes mistakes;
  auto built = memory_environment_kind().build(section, system, {0.1, 1.0}, test_world(), mistakes);
  report = mistakes.report();
  return built;
}

TEST(MpiQuantumNoise, KeepsTheLedger) {
  std::string report;
  Problem problem = oscillator(memory({rate}, report), 7);
  EXPECT_EQ(report, "");
  EXPECT_FALSE(make_stepper(method_case(midpoint).scheme, problem, 0.1)->advance(900));
  EXPECT_NEAR(problem.energies().total(), 0.0, 1e-12);
  if (!test_world().is_root()) return;
  EXPECT_GT(std::abs(problem.p[0]), 1e-3);
}

// Blocks of forces against the sum over all numbers, on two axes, over three blocks, also from the middle of one.
TEST(QuantumNoise, ForcesAreWeightedSumsOfTheNumbers) {
  const auto noise = std::make_shared<const QuantumNoise>(quantum_spectrum(friction, 0.2, 1.0), 0.1);
  const auto number = [](std::int64_t index, int axis) {
    return std::sin(0.7 * static_cast<double>(index)) + std::cos(2.9 * static_cast<double>(index + 3 * axis));
  };
  NoiseStream numbers;
  const std::unique_ptr<RandomForce> whole = make_quantum_force(noise), resumed = make_quantum_force(noise);
  const auto begin = [&](RandomForce& force) {
    numbers.set_source([&](std::int64_t index, int, std::span<double> values) {
      for (std::size_t axis = 0; axis < values.size(); ++axis) values[axis] = number(index, static_cast<int>(axis));
    });
    force.begin(numbers, {}, 2);
  };
  begin(*whole);
  begin(*resumed);
  const auto block = static_cast<std::int64_t>(noise->block_steps());
  const std::int64_t resume = block + 77;
  *resumed->fields(2, true).front().values.data() = static_cast<double>(resume);
  double scale = 0.0;
  for (const double weight : noise->weights()) scale += std::abs(weight);
  for (std::int64_t step = 0; step < 2 * block + 5; ++step) {
    for (const std::size_t axis : {0u, 1u}) {
      const double force = whole->at_stages(axis)[0];
      if (step >= resume) {
        ASSERT_EQ(resumed->at_stages(axis)[0], force) << step;
      }
      if (step % 97 != 0 && step % block > 2) continue;
      double sum = 0.0;
      std::int64_t index = step;
      for (const double weight : noise->weights()) sum += weight * number(index++, static_cast<int>(axis));
      ASSERT_NEAR(force, sum, 1e-13 * scale) << step;
    }
    whole->end_step();
    if (step >= resume) resumed->end_step();
  }
}

// Correlations of the square last some 5 s: 20000 s hold 4000 independent samples, with an error of 0.016; five of
// these.
TEST(QuantumNoise, GivesAMemoryItsVariance) {
  std::string report;
  Problem problem = oscillator(memory({rate}, report));
  const auto stepper = make_stepper(method_case(midpoint).scheme, problem, 0.2);
  stepper->advance(500);
  double mean = 0.0;
  constexpr int steps = 100000;
  for (int step = 0; step < steps; ++step) {
    stepper->advance(1);
    mean += problem.q[0] * problem.q[0] / steps;
  }
  EXPECT_NEAR(mean / 0.4726472835, 1.0, 0.08);
}

TEST(QuantumNoise, RefusesUnsupportedSchemesAndModes) {
  std::string report;
  for (const MethodCase& method : method_cases()) {
    const bool is_supported = !memory({rate}, report)->unsupported_reason(method.scheme);
    const bool expected = method.name == midpoint || method.name == "time-centred" || method.name == "gauss(stages=1)";
    if (method.method->domain != Method::Domain::mechanical) continue;
    EXPECT_EQ(is_supported, expected) << method.name;
  }
  memory({rate, 0.0}, report);
  EXPECT_THAT(report, HasSubstr("`rate` of every mode must be positive"));
  // The largest reach at steps of 0.1 s is 80 times the decay time of the first mode, and 1.6 times that of the second.
  const Scheme& scheme = method_case(midpoint).scheme;
  EXPECT_FALSE(memory({rate, 0.05}, report)->unsupported_reason(scheme));
  EXPECT_THAT(memory({rate, 0.001}, report)->unsupported_reason(scheme).value_or(""), HasSubstr("at most 16384 steps"));
}

// A slow mode needs a longer filter: truncated at the smallest reach, the bath would be too cold by 4e-4.
TEST(QuantumNoise, GrowsItsReachWithTheCorrelations) {
  const auto spectrum =
      quantum_spectrum([](double w) { return friction(w) + spring * 0.05 / (0.05 * 0.05 + w * w); }, 0.2, 1.0);
  const QuantumNoise noise(spectrum, 0.1);
  EXPECT_GT(noise.reach(), QuantumNoise::min_reach);
  EXPECT_LT(noise.truncation_error(), QuantumNoise::max_truncation_error);
  EXPECT_EQ(QuantumNoise(quantum_spectrum(friction, 0.2, 1.0), 0.1).reach(), QuantumNoise::min_reach);
}

}  // namespace
}  // namespace bathline::quantum_noise_test
