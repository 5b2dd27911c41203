// Lumped environments with springs, dashpots, mobilities and nonlinear springs: orders, forces, energies, properties
// and unsupported schemes. tests/model/memory_test.cpp tests restarts.
#include "model/lumped/lumped.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "steppers/stability.hpp"
#include "steppers/stepper.hpp"
#include "differences.hpp"
#include "extrapolation.hpp"
#include "method_cases.hpp"
#include "model/problem.hpp"
#include "particle_in_well.hpp"
#include "petsc_world.hpp"

namespace bathline::lumped_test {
namespace {

constexpr double mass = 1.4, stiffness = 1.1, quartic = 0.8, cubic = 0.9;

/// A head, a site and another site in a row, the last with a spring to the ground.
LumpedNetwork chain(double dashpot, double mobility = 0.0) {
  return {.mass = {0.7, 0.4},
          .springs = {{0, 1, 1.7}},
          .to_head = {{0, 2.1}},
          .to_ground = {{1, 0.6}},
          .dashpots = {{1, dashpot}},
          .mobilities = {{0, mobility}}};
}

/// Stiffening springs between the head and the first site, and between the sites.
double stiffening(double x, const Eigen::VectorXd& w, Eigen::VectorXd& pulls) {
  const double first = x - w[0], second = w[0] - w[1];
  pulls[0] += cubic * (std::pow(first, 3) - std::pow(second, 3));
  pulls[1] += cubic * std::pow(second, 3);
  return 0.25 * cubic * (std::pow(first, 4) + std::pow(second, 4));
}

std::unique_ptr<LumpedEnvironment> lumped(LumpedNetwork sites,
                                          LumpedEnvironment::NonlinearSprings nonlinear_springs = {}) {
  return std::make_unique<LumpedEnvironment>("sites", Attachment({{0, 1.0}}, 1), std::move(sites), test_world(),
                                             std::move(nonlinear_springs));
}

Problem particle_with(std::unique_ptr<Environment> environment, double quartic_coefficient = quartic) {
  return particle_in({.mass = mass, .stiffness = stiffness, .quartic = quartic_coefficient, .q0 = 1.0, .v0 = 0.6},
                     std::move(environment));
}

/// Newton's equations of the particle, the nodes that the springs are attached to and the masses, with the dissipated
/// energy as the last variable.
End newtonian_end(double dashpot, double mobility, double cubic_coefficient, double duration) {
  const LongMotion motion = [&](const LongState& s) -> LongState {
    const long double q = s[0], v = s[1], w0 = s[2], w1 = s[3], v0 = s[4], v1 = s[5], x = q - 1.0L;
    const long double head = 2.1L * (x - w0) + cubic_coefficient * std::pow(x - w0, 3.0L);
    const long double between = 1.7L * (w0 - w1) + cubic_coefficient * std::pow(w0 - w1, 3.0L);
    const long double pull = head - between, node_velocity_difference = mobility * pull, drag = dashpot * v1;
    return {v,
            (-stiffness * q - quartic * q * q * q - head) / mass,
            v0 + node_velocity_difference,
            v1,
            pull / 0.7L,
            (between - 0.6L * w1 - drag) / 0.4L,
            node_velocity_difference * pull + drag * v1};
  };
  const LongState end = extrapolated(motion, {1.0L, 0.6L, 0.0L, 0.0L, 0.0L, 0.0L, 0.0L}, duration, 40);
  return {static_cast<double>(end[0]), mass * static_cast<double>(end[1]), 0.0, static_cast<double>(end[6])};
}

/// Checks the orders of all supported schemes, and returns their number.
int expect_orders(const std::function<std::unique_ptr<Environment>()>& make, const End& exact, double duration) {
  int tested = 0;
  for (const MethodCase& method : method_cases()) {
    if (method.method->domain != Method::Domain::mechanical || std::holds_alternative<ExactFlow>(method.scheme))
      continue;
    if (make()->unsupported_reason(method.scheme)) continue;
    SCOPED_TRACE(method.name);
    const int order = method.method->properties(method.options).order;
    if (order > 8) continue;  // errors reach round-off before the order shows
    const auto error = [&](int steps) {
      Problem problem = particle_with(make());
      const End end = end_of(problem, method.scheme, duration / steps, steps);
      return std::hypot(end.q - exact.q, end.p - exact.p) + std::abs(end.dissipated - exact.dissipated);
    };
    const int steps = order > 6 ? 10 : order > 4 ? 20 : order > 2 ? 40 : 160;
    const double coarse = error(steps), fine = error(2 * steps);
    EXPECT_NEAR(std::log2(coarse / fine), order, 0.25) << coarse << " " << fine;
    ++tested;
  }
  return tested;
}

TEST(MpiLumped, SchemesHaveTheirOrdersWithDashpots) {
  const auto make = [] { return lumped(chain(0.5)); };
  EXPECT_GE(expect_orders(make, newtonian_end(0.5, 0.0, 0.0, 2.0), 2.0), 9);
}

TEST(MpiLumped, SchemesHaveTheirOrdersWithMobilities) {
  const auto make = [] { return lumped(chain(0.5, 0.3)); };
  EXPECT_GE(expect_orders(make, newtonian_end(0.5, 0.3, 0.0, 2.0), 2.0), 7);
}

TEST(MpiLumped, SchemesHaveTheirOrdersWithNonlinearSprings) {
  const auto damped = [] { return lumped(chain(0.5), stiffening); };
  EXPECT_GE(expect_orders(damped, newtonian_end(0.5, 0.0, cubic, 2.0), 2.0), 3);
  // Without decay compositions with negative substeps are supported as well.
  const auto free = [] { return lumped(chain(0.0), stiffening); };
  EXPECT_GE(expect_orders(free, newtonian_end(0.0, 0.0, cubic, 2.0), 2.0), 6);
}

TEST(MpiLumped, ExactFlowSolvesNewtonsEquations) {
  Problem problem = particle_with(lumped(chain(0.5, 0.3)));
  const End end = end_of(problem, ExactFlow{}, 2.0, 1), expected = newtonian_end(0.5, 0.3, 0.0, 2.0);
  EXPECT_NEAR(end.q, expected.q, 1e-11);
  EXPECT_NEAR(end.p, expected.p, 1e-11);
  EXPECT_NEAR(end.dissipated, expected.dissipated, 1e-11);
}

TEST(MpiLumped, ForcesAreMinusTheGradientOfTheEnergy) {
  const auto environment = lumped(chain(0.5), stiffening);
  environment->prepare({});
  const Eigen::VectorXd position{{0.4, -0.3, 0.8}};  // head and sites
  const auto energy = [&](const Eigen::VectorXd& u) {
    environment->scatter_state(std::span<const double>(u.data() + 1, 2), std::vector<double>{0.0, 0.0});
    const EnvironmentEnergy parts = environment->energy(std::span<const double>(u.data(), 1));
    return parts.environment + parts.interaction;
  };
  const Eigen::VectorXd gradient = gradient_of(energy, position);
  Eigen::VectorXd pulls;
  const double head_force = environment->pull(position[0], position.tail(2), pulls);
  EXPECT_NEAR(head_force, -gradient[0], 1e-9);
  EXPECT_NEAR(pulls[0], -gradient[1], 1e-9);
  EXPECT_NEAR(pulls[1], -gradient[2], 1e-9);
}

TEST(MpiLumped, LedgerIsClosedToRoundOff) {
  for (const char* name : {"gamma(gamma=0.500000)", "gauss(stages=2)", "gauss(stages=3)"}) {
    Problem problem = particle_with(lumped(chain(0.5, 0.3)), 0.0);
    const double before = problem.energies().total();
    const End end = end_of(problem, method_case(name).scheme, 0.2, 500);
    EXPECT_NEAR(end.total, before, 1e-12 * before) << name;
    EXPECT_GT(end.dissipated, 0.1 * before);
  }
}

TEST(MpiLumped, RefusesUnsupportedSchemes) {
  const auto unsupported_reason = [](const LumpedEnvironment& environment, const char* name) {
    return environment.unsupported_reason(method_case(name).scheme).value_or("none");
  };
  using testing::HasSubstr;
  const auto free = lumped(chain(0.0)), with_mobility = lumped(chain(0.0, 0.3)),
             nonlinear = lumped(chain(0.0), stiffening);
  EXPECT_THAT(unsupported_reason(*with_mobility, "stoermer-verlet(order_of_substeps=kick-drift-kick)"),
              HasSubstr("are massless"));
  EXPECT_THAT(unsupported_reason(*with_mobility, "lobatto(stages=3)"), HasSubstr("different matrices"));
  EXPECT_EQ(unsupported_reason(*free, "lobatto(stages=3)"), "none");
  EXPECT_THAT(unsupported_reason(*nonlinear, "gauss(stages=2)"), HasSubstr("not linear"));
  EXPECT_THAT(nonlinear->unsupported_reason(ExactFlow{}).value_or("none"), HasSubstr("linear environments only"));
  EXPECT_FALSE(free->unsupported_reason(ExactFlow{}));
  EXPECT_FALSE(nonlinear->properties().is_linear);
  EXPECT_TRUE(free->properties().is_linear);
}

// The force on a head of constant speed in the long run, and the eigenvalues with the head clamped.
TEST(MpiLumped, HasItsProperties) {
  const auto properties = [](const LumpedNetwork& sites) { return lumped(sites)->properties(); };
  EXPECT_TRUE(std::isinf(properties(chain(0.5)).damping)) << "a spring to the ground has no damping constant";
  const double infinite = std::numeric_limits<double>::infinity();
  const auto damping = [&](double m, double mobility, double dashpot) {
    return properties({.mass = {m}, .to_head = {{0, 2.0}}, .dashpots = {{0, dashpot}}, .mobilities = {{0, mobility}}})
        .damping;
  };
  EXPECT_DOUBLE_EQ(damping(1.0, 0.0, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(damping(1.0, 0.25, 0.5), 1.0 / (0.25 + 2.0));
  EXPECT_DOUBLE_EQ(damping(infinite, 0.25, 0.0), 4.0);
  EXPECT_EQ(damping(1.0, 0.25, 0.0), 0.0) << "a free mass follows the head";
  EXPECT_TRUE(std::isinf(damping(infinite, 0.0, 0.0)));
  // m x'' = -2 x - c x' with m = 1: x = exp(l t), l^2 + c l + 2 = 0.
  const EnvironmentProperties slow = properties({.mass = {1.0}, .to_head = {{0, 2.0}}, .dashpots = {{0, 1.0}}});
  EXPECT_NEAR(slow.fastest_decay, 0.5, 1e-14);
  EXPECT_NEAR(slow.highest_frequency, std::numbers::sqrt2, 1e-14);
  // Two such masses joined by a spring: the symmetric mode has the stiffness 2, the antisymmetric one 2 + 2 * 3.
  const EnvironmentProperties pair =
      properties({.mass = {1.0, 1.0}, .springs = {{0, 1, 3.0}}, .to_head = {{0, 2.0}, {1, 2.0}}});
  EXPECT_NEAR(pair.highest_frequency, std::sqrt(8.0), 1e-13);
  EXPECT_EQ(pair.fastest_decay, 0.0);
  EXPECT_FALSE(pair.loses_energy);
  EXPECT_EQ(properties(chain(0.5)).sites, 2);
}

}  // namespace
}  // namespace bathline::lumped_test
