// Modes under all kinds of schemes, against brute force in 30 digits, closed forms and their own structure.
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/stepper.hpp"
#include "method_cases.hpp"
#include "model/modes/oscillator_bath.hpp"
#include "particle_in_well.hpp"
#include "test_world.hpp"

namespace bathline::modes_test {
namespace {

Scheme scheme_named(const std::string& name) {
  if (name == "gamma 0.3") return one_stage(0.7, 0.3);
  return method_case(name).scheme;
}

/// V = q^4/4 - q^2/2 from q = 1.2, p = 0.3 with m = 1, after 500 steps of 0.1.
Problem double_well(std::unique_ptr<Environment> environment) {
  return particle_in({.mass = 1.0, .stiffness = -1.0, .quartic = 1.0, .q0 = 1.2, .v0 = 0.3}, std::move(environment));
}

std::unique_ptr<Environment> bath_of(std::vector<BathOscillator> oscillators, int steps_per_pass = 32) {
  return std::make_unique<OscillatorBath>("bath", Attachment({{0, 1.0}}, 1), table_spectrum(std::move(oscillators)),
                                          0.0, test_world(), steps_per_pass);
}

struct Oracle {
  std::string scheme;
  double q, p;
};

// All particles and modes as one system in 30 digits, stages by Newton's method.
TEST(MpiModes, OfABathMoveAsInThirtyDigits) {
  const std::vector<Oracle> oracles = {
      {"gamma(gamma=0.000000)", 0.869535960403262, 0.3905528220213878},
      {"gamma(gamma=1.000000)", 0.9594363344566372, 0.3749930104575818},
      {"stoermer-verlet(order_of_substeps=kick-drift-kick)", 0.9170484266765439, 0.3838181399772433},
      {"stoermer-verlet(order_of_substeps=drift-kick-drift)", 0.9184171897171036, 0.3853417541508823},
      {"yoshida4", 0.9035198449882097, 0.3682537733335836},
      {"gamma 0.3", 0.8672154468817128, 0.3525247511582942},
      {"gamma(gamma=0.500000)", 0.8788057637804383, 0.3466197643102709},
      {"gauss(stages=2)", 0.9037425707068105, 0.3693314950686952},
      {"lobatto(stages=3)", 0.903750196054919, 0.3693660196578616}};
  for (const auto& [scheme, q, p] : oracles) {
    for (const int steps_per_pass : {1, 4, 8, 32}) {
      SCOPED_TRACE(testing::Message() << scheme << ", " << steps_per_pass << " steps a pass");
      Problem problem = double_well(bath_of({{0.5, 0.3}, {1.7, 0.2}, {4.2, 0.1}}, steps_per_pass));
      ASSERT_FALSE(make_stepper(scheme_named(scheme), problem, 0.1)->advance(500));
      if (!test_world().is_root()) continue;
      EXPECT_NEAR(problem.q[0], q, 2e-14);
      EXPECT_NEAR(problem.p[0], p, 2e-14);
    }
  }
}

/// Takes steps of a bath alone with its head at 0; returns its displacements, then its momenta.
std::vector<double> states_after(Environment& bath, const Scheme& scheme, double h, int steps) {
  const std::vector<double> head(1), velocity(1);
  if (const auto* pair = std::get_if<PartitionedRungeKutta>(&scheme)) {
    const auto stepper = bath.implicit_stepper(*pair, h);
    StageResponse response;
    for (int i = 0; i < steps; ++i) {
      stepper->condense(head, response);
      stepper->back_substitute(Eigen::MatrixXd::Zero(pair->stages(), 1));
    }
  } else {
    const auto& splitting = std::get<ExplicitScheme>(scheme);
    const auto stepper = bath.explicit_stepper(splitting, h);
    for (int i = 0; i < steps; ++i) {
      stepper->begin_block({});
      for (const Substep& substep : splitting.substeps) stepper->substep(substep, {head, velocity});
      stepper->end_block();
    }
  }
  std::vector<double> w, p;
  bath.gather_state(w, p);
  w.insert(w.end(), p.begin(), p.end());
  return w;
}

// Round-off is unbiased: the energy of a mode has a random walk, where a matrix in floating-point numbers would have
// a rate of 1e-16 a step.
TEST(Modes, ThatDoNotDecayKeepTheirEnergy) {
  constexpr int steps = 200'000;
  for (const char* name : {"gamma(gamma=0.500000)", "gauss(stages=2)", "gauss(stages=3)"}) {
    SCOPED_TRACE(name);
    const auto bath = bath_of({{0.5, 0.3}, {1.7, 0.2}, {4.2, 0.1}, {9.1, 0.7}});
    bath->prepare({});
    bath->scatter_state(std::vector<double>{0.4, -0.2, 0.7, 0.1}, std::vector<double>{0.1, 0.3, -0.2, 0.2});
    const EnvironmentEnergy before = bath->energy(std::vector<double>(1));
    states_after(*bath, method_case(name).scheme, 0.1, steps);
    const EnvironmentEnergy after = bath->energy(std::vector<double>(1));
    const double total = before.environment + before.interaction;
    EXPECT_NEAR(after.environment + after.interaction, total, 4e-13 * total);
  }
}

// At h w = 2 the step of Stoermer-Verlet has no eigenvectors, and beyond it grows. The angle of a step of two Gauss
// stages is pi at h w = sqrt(12): it changes the sign of the state.
TEST(Modes, AreExactAtTheLimitOfStabilityAndWhereAStepIsHalfATurn) {
  for (const double frequency : {2.0, 2.001}) {
    const auto bath = bath_of({{frequency, 0.01}});
    bath->prepare({});
    bath->scatter_state(std::vector<double>{0.4}, std::vector<double>{0.1});
    const auto& scheme = method_case("stoermer-verlet(order_of_substeps=kick-drift-kick)").scheme;
    const std::vector<double> actual = states_after(*bath, scheme, 1.0, 12);
    double w = 0.4, p = 0.1;
    for (int i = 0; i < 12; ++i) {
      p -= 0.5 * 0.01 * w;
      w += frequency * frequency / 0.01 * p;
      p -= 0.5 * 0.01 * w;
    }
    EXPECT_NEAR(actual[0], w, 1e-12 * std::abs(w));
    EXPECT_NEAR(actual[1], p, 1e-12 * std::abs(w) * 0.01);
  }
  for (const double frequency : {std::sqrt(12.0), std::sqrt(12.0) * (1.0 + 1e-9)}) {
    const auto bath = bath_of({{frequency, 0.01}});
    bath->prepare({});
    bath->scatter_state(std::vector<double>{0.4}, std::vector<double>{0.1});
    const std::vector<double> actual = states_after(*bath, method_case("gauss(stages=2)").scheme, 1.0, 1);
    EXPECT_NEAR(actual[0], -0.4, 1e-6);
    EXPECT_NEAR(actual[1], -0.1, 1e-6);
  }
}

}  // namespace
}  // namespace bathline::modes_test
