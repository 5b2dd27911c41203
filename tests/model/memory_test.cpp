// Memories with a Prony series: orders, the same kernel as a network of springs, masses and dashpots or as oscillators,
// energies and ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "steppers/stability.hpp"
#include "steppers/stepper.hpp"
#include "extrapolation.hpp"
#include "method_cases.hpp"
#include "model/environment_catalogue.hpp"
#include "model/memory/prony_memory.hpp"
#include "model/problem.hpp"
#include "model/modes/oscillator_bath.hpp"
#include "particle_in_well.hpp"
#include "petsc_world.hpp"

namespace bathline::memory_test {
namespace {

using List = std::vector<double>;

struct Kernel {
  List k, r, w;
};

const Kernel damped{{1.3, 0.8, 0.5}, {0.7, 2.1, 0.0}, {1.9, 0.0, 1.1}};

std::unique_ptr<Environment> build(const Kernel& kernel, std::string& report) {
  ParticleSystem system;
  system.particles = 1;
  Section section;
  section.set("kind", std::string("memory"), {});
  section.set("name", std::string("m"), {});
  section.set("attach", 0L, {});
  section.set("stiffness", kernel.k, {});
  section.set("rate", kernel.r, {});
  section.set("frequency", kernel.w, {});
  section.set("kT", 0.0, {});
  Mistakes mistakes;
  auto memory = memory_environment_kind().build(section, system, {0.1, 1.0}, test_world(), mistakes);
  report = mistakes.report();
  return memory;
}

Problem make_problem(std::unique_ptr<Environment> environment, double quartic) {
  return particle_in({.mass = 1.4, .stiffness = 1.1, .quartic = quartic, .q0 = 1.0, .v0 = 0.6}, std::move(environment));
}

Problem with_memory(const Kernel& kernel, double quartic) {
  std::string report;
  auto memory = build(kernel, report);
  EXPECT_EQ(report, "");
  return make_problem(std::move(memory), quartic);
}

bool is_supported(const MethodCase& method) {
  return method.method->domain == Method::Domain::mechanical &&
         !with_memory(damped, 0.8).environments().front()->unsupported_reason(method.scheme);
}

TEST(MpiMemory, SchemesHaveTheirOrders) {
  constexpr double duration = 2.0;
  Problem reference = with_memory(damped, 0.8);
  const End exact = end_of(reference, ExactFlow{}, duration, 1);
  int tested = 0;
  for (const MethodCase& method : method_cases()) {
    if (!is_supported(method)) continue;
    SCOPED_TRACE(method.name);
    const int order = method.method->properties(method.options).order;
    const auto error = [&](int steps) {
      Problem problem = with_memory(damped, 0.8);
      const End end = end_of(problem, method.scheme, duration / steps, steps);
      return std::hypot(end.q - exact.q, end.p - exact.p) + std::abs(end.dissipated - exact.dissipated);
    };
    const int steps = order > 4 ? 12 : order > 2 ? 40 : 160;
    const double coarse = error(steps), fine = error(2 * steps);
    EXPECT_NEAR(std::log2(coarse / fine), order, 0.2) << coarse << " " << fine;
    ++tested;
  }
  EXPECT_GE(tested, 9);
}

TEST(MpiMemory, RefusesUnsupportedSchemes) {
  for (const char* name : {"lobatto(stages=3)", "lobatto(stages=4)"}) {
    EXPECT_FALSE(is_supported(method_case(name))) << name;
  }
  int unsupported_count = 0;
  for (const MethodCase& method : method_cases()) {
    const auto* scheme = std::get_if<ExplicitScheme>(&method.scheme);
    if (scheme == nullptr) continue;
    bool has_negative_substep = false;
    for (const Substep& substep : scheme->substeps) has_negative_substep = has_negative_substep || substep.weight < 0.0;
    EXPECT_EQ(is_supported(method), !has_negative_substep) << method.name;
    unsupported_count += has_negative_substep;
  }
  EXPECT_GT(unsupported_count, 0);
  std::string report;
  EXPECT_EQ(build({{1.0, 2.0}, {1.0}, {1.0}}, report), nullptr);
  EXPECT_THAT(report, testing::HasSubstr("there are 2, 1 and 1"));
}

/// The same kernel as a network: every spring k ends at a node u, from which a dashpot k/r leads to a mass k/w^2 at y
/// with a dashpot r k/w^2 to the ground. With rate 0 the first dashpot is rigid, with frequency 0 the mass is fixed.
/// Newton's equations, with the energy that all dashpots dissipate as the last variable.
End newtonian_end(const Kernel& kernel, double quartic, double duration) {
  const std::size_t modes = kernel.k.size();
  const LongMotion motion = [&](const LongState& s) {
    LongState slope(s.size());
    const long double q = s[0], v = s[1];
    long double force = -1.1L * q - quartic * q * q * q, power = 0.0L;
    for (std::size_t j = 0; j < modes; ++j) {
      const long double k = kernel.k[j], r = kernel.r[j], w = kernel.w[j];
      const long double u = s[2 + 3 * j], speed = s[4 + 3 * j], pull = k * (q - 1.0L - u);
      force -= pull;
      const long double through = r > 0.0L ? pull / (k / r) : 0.0L;  // relative velocity of the first dashpot
      slope[2 + 3 * j] = speed + through;
      slope[3 + 3 * j] = speed;
      slope[4 + 3 * j] = w > 0.0L ? (pull - r * k / (w * w) * speed) / (k / (w * w)) : 0.0L;
      power += pull * through + (w > 0.0L ? r * k / (w * w) * speed * speed : 0.0L);
    }
    slope[0] = v;
    slope[1] = force / 1.4L;
    slope.back() = power;
    return slope;
  };
  LongState start(3 + 3 * modes);
  start[0] = 1.0L;
  start[1] = 0.6L;
  const LongState end = extrapolated(motion, start, duration, 60);
  return {static_cast<double>(end[0]), 1.4 * static_cast<double>(end[1]), 0.0, static_cast<double>(end.back())};
}

TEST(MpiMemory, IsItsKernelOfSpringsMassesAndDashpots) {
  const Kernel all{{1.3, 0.8, 0.5, 0.4}, {0.7, 2.1, 0.0, 0.0}, {1.9, 0.0, 1.1, 0.0}};
  for (const double quartic : {0.0, 0.8}) {
    SCOPED_TRACE(quartic);
    const End expected = newtonian_end(all, quartic, 3.0);
    Problem problem = with_memory(all, quartic);
    const double before = problem.energies().total();
    const End end = end_of(problem, ExactFlow{}, 3.0, 1);
    EXPECT_NEAR(end.q, expected.q, 1e-11);
    EXPECT_NEAR(end.p, expected.p, 1e-11);
    EXPECT_NEAR(end.dissipated, expected.dissipated, 1e-11);
    EXPECT_NEAR(end.total, before, 1e-11);
    // Of order 6: a step of 0.02 leaves (0.02)^6 of rates of about 2.
    Problem stepped = with_memory(all, quartic);
    const End gauss = end_of(stepped, method_case("gauss(stages=3)").scheme, 0.02, 150);
    EXPECT_NEAR(gauss.q, expected.q, 1e-9);
    EXPECT_NEAR(gauss.p, expected.p, 1e-9);
    EXPECT_NEAR(gauss.dissipated, expected.dissipated, 1e-9);
  }
}

// Without decay the terms are the oscillators of a heat bath, under every scheme.
TEST(MpiMemory, IsAHeatBathWhereNothingDecays) {
  const Kernel kernel{{0.9, 0.4}, {0.0, 0.0}, {1.2, 2.3}};
  for (const MethodCase& method : method_cases()) {
    if (method.method->domain != Method::Domain::mechanical) continue;
    SCOPED_TRACE(method.name);
    Problem memory = with_memory(kernel, 0.8);
    EXPECT_FALSE(memory.environments().front()->unsupported_reason(method.scheme));
    Problem bath =
        make_problem(std::make_unique<OscillatorBath>("bath", Attachment({{0, 1.0}}, 1),
                                                      table_spectrum({{1.2, 0.9}, {2.3, 0.4}}), 0.0, test_world(), 8),
                     0.8);
    const End end = end_of(memory, method.scheme, 0.05, 100), expected = end_of(bath, method.scheme, 0.05, 100);
    EXPECT_NEAR(end.q, expected.q, 2e-12);
    EXPECT_NEAR(end.p, expected.p, 2e-12);
    EXPECT_NEAR(end.total, expected.total, 1e-11);
  }
}

// A Drude bath of n oscillators up to omega_max has the kernel D cutoff exp(-cutoff t) up to terms beyond omega_max.
TEST(MpiMemory, IsTheLimitOfADrudeBath) {
  constexpr double damping = 0.3, cutoff = 2.0;
  Problem memory = with_memory({{damping * cutoff}, {cutoff}, {0.0}}, 0.8);
  EXPECT_NEAR(memory.environments().front()->properties().damping, damping, 1e-15);
  const End expected = end_of(memory, ExactFlow{}, 5.0, 1);
  const auto distance = [&](double highest) {
    Problem bath =
        make_problem(std::make_unique<OscillatorBath>(
                         "bath", Attachment({{0, 1.0}}, 1),
                         drude_spectrum(std::lround(20.0 * highest), damping, highest, cutoff), 0.0, test_world(), 8),
                     0.8);
    const End end = end_of(bath, method_case("gauss(stages=2)").scheme, 0.0125, 400);
    return std::hypot(end.q - expected.q, end.p - expected.p);
  };
  const double coarse = distance(20.0), fine = distance(40.0);
  EXPECT_LT(fine, 2e-3);
  EXPECT_GT(coarse, 1.5 * fine);
}

// The midpoint rule and Gauss methods conserve every quadratic balance of a linear system, also in the white limit,
// where springs of 1e12 N/m are stretched by 1e-12 m.
TEST(MpiMemory, LedgerIsClosedToRoundOff) {
  const Kernel white{{1e12, 2e12}, {1e12, 4e12}, {0.0, 1e12}};
  for (const char* name : {"gamma(gamma=0.500000)", "gauss(stages=2)", "gauss(stages=3)"}) {
    for (const Kernel& kernel : {damped, white}) {
      Problem problem = with_memory(kernel, 0.0);
      const double before = problem.energies().total();
      const End end = end_of(problem, method_case(name).scheme, 0.2, 500);
      EXPECT_NEAR(end.total, before, 1e-12 * before) << name << kernel.k.front();
      EXPECT_GT(end.dissipated, 0.1 * before);
    }
  }
}

// z' = (-r + i w) z + x' for every term, with the force -Re((k - i b) z), and the work on all of them.
End end_of_sum(const std::vector<PronyTerm>& modes, double quartic, double duration) {
  const LongMotion motion = [&](const LongState& s) {
    LongState slope(s.size());
    const long double q = s[0], v = s[1];
    long double pull = 0.0L;
    for (std::size_t j = 0; j < modes.size(); ++j) {
      const long double a = s[2 + 2 * j], c = s[3 + 2 * j];
      pull += modes[j].k * a + modes[j].b * c;
      slope[2 + 2 * j] = -modes[j].r * a - modes[j].w * c + v;
      slope[3 + 2 * j] = -modes[j].r * c + modes[j].w * a;
    }
    slope[0] = v;
    slope[1] = (-1.1L * q - quartic * q * q * q - pull) / 1.4L;
    slope.back() = pull * v;
    return slope;
  };
  LongState start(3 + 2 * modes.size());
  start[0] = 1.0L;
  start[1] = 0.6L;
  const LongState end = extrapolated(motion, start, duration, 60);
  return {static_cast<double>(end[0]), 1.4 * static_cast<double>(end[1]), static_cast<double>(end.back()), 0.0};
}

// Terms that are passive only together: with sines, with negative cosines, and with a sine whose cosine is tiny.
TEST(MpiMemory, MayBePassiveAsASumOnly) {
  const std::vector<PronyTerm> modes =
      rescaled_terms({{1.3, 0.7, 1.9, 0.4}, {-0.2, 1.5, 0.0}, {1e-7, 0.9, 1.1, 0.3}, {0.9, 0.4, 0.6}});
  EXPECT_EQ(modes.size(), 5u);
  const auto problem_of = [&](double quartic) {
    return make_problem(std::make_unique<PronyMemory>("m", Attachment({{0, 1.0}}, 1), modes, 0.0, test_world()),
                        quartic);
  };
  for (const double quartic : {0.0, 0.8}) {
    SCOPED_TRACE(quartic);
    const End expected = end_of_sum(modes, quartic, 3.0);
    Problem exact = problem_of(quartic);
    const double before = exact.energies().total();
    const End end = end_of(exact, ExactFlow{}, 3.0, 1);
    EXPECT_NEAR(end.q, expected.q, 1e-11);
    EXPECT_NEAR(end.p, expected.p, 1e-11);
    EXPECT_NEAR(end.total, before, 1e-11);
    // Of order 6: a step of 0.02 leaves (0.02)^6 of rates of about 2.
    Problem stepped = problem_of(quartic);
    const End gauss = end_of(stepped, method_case("gauss(stages=3)").scheme, 0.02, 150);
    EXPECT_NEAR(gauss.q, expected.q, 1e-9);
    EXPECT_NEAR(gauss.p, expected.p, 1e-9);
    EXPECT_EQ(gauss.dissipated, 0.0);
    const EnergyLedger ledger = stepped.energies();
    EXPECT_NEAR(ledger.environment, expected.total, 1e-9);
    EXPECT_EQ(ledger.interaction, 0.0);
    // Splittings, with half a step of decay before and after each step, have order 2.
    const auto error = [&](int steps) {
      Problem split = problem_of(quartic);
      const End end =
          end_of(split, method_case("stoermer-verlet(order_of_substeps=kick-drift-kick)").scheme, 3.0 / steps, steps);
      return std::hypot(end.q - expected.q, end.p - expected.p) +
             std::abs(split.energies().environment - expected.total);
    };
    EXPECT_NEAR(std::log2(error(150) / error(300)), 2.0, 0.1);
  }
  EXPECT_FALSE(has_termwise_noise(modes));
  EXPECT_THROW(PronyMemory("m", Attachment({{0, 1.0}}, 1), modes, 0.1, test_world()), std::logic_error);
  EXPECT_NEAR(problem_of(0.0).environments()[0]->properties().damping, resistance_at(modes, 0.0), 1e-15);
}

TEST(MpiMemory, HasItsKernelAndDamping) {
  std::string report;
  const auto memory = build(damped, report);
  const AnalyticKernel analytic = memory->analytic_kernel(List{0.0, 0.9}).value();
  EXPECT_NEAR(analytic.kernel[0], 2.6, 1e-15);
  const double expected = 1.3 * std::exp(-0.63) * std::cos(1.71) + 0.8 * std::exp(-1.89) + 0.5 * std::cos(0.99);
  EXPECT_NEAR(analytic.kernel[1], expected, 1e-15);
  EXPECT_NEAR(memory->properties().damping, 1.3 * 0.7 / (0.49 + 3.61) + 0.8 / 2.1, 1e-15);
  EXPECT_TRUE(std::isinf(build({{1.0}, {0.0}, {0.0}}, report)->properties().damping));
}

TEST(MpiMemory, FastDecayLimitsTheStep) {
  const Problem problem = with_memory({{1.0}, {50.0}, {0.0}}, 0.0);
  const MethodCase& rk4 = method_case("rk4");
  EXPECT_NEAR(stability_limit(problem, *rk4.method, rk4.options).largest_step, 2.785293563405282 / 50.0, 1e-12);
  const MethodCase& verlet = method_case("stoermer-verlet(order_of_substeps=kick-drift-kick)");
  EXPECT_GT(stability_limit(problem, *verlet.method, verlet.options).largest_step, 1.0);
}

}  // namespace
}  // namespace bathline::memory_test
