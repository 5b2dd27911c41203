// The laws of nonlinear sites: against the potentials that they stand for, in registers, and against the chain's
// direction.
#include "model/line/nonlinear_sites.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "model/line/state.hpp"
#include "nonlinear_laws.hpp"
#include "self_world.hpp"

namespace bathline::nonlinear_sites_test {
namespace {

TEST(NonlinearSites, HaveTheForcesAndEnergiesOfTheirPotentials) {
  for (const NonlinearLaw& law : nonlinear_laws()) {
    SCOPED_TRACE(law.name);
    LineState state({.mass = 1.3}, {.law = law.line_law()}, 200, self_world(), 1);
    state.allocate();
    const PairPotential& spring = *state.options.law->springs;
    const PairPotential* const site = state.options.law->sites.get();
    const auto compare = [&](const auto& sites) {
      for (double s = -0.93; s < 1.0; s += 0.11) {
        const double pull = spring.derivative(s), value = spring.value(s) - spring.value(0.0);
        EXPECT_NEAR(sites.stiffness * sites.pull(0, s), pull, 4e-15 * (1.0 + std::abs(pull))) << s;
        EXPECT_NEAR(sites.energy(0, s), value, 1e-14 * (1.0 + std::abs(value))) << s;
        const double w = 0.7 * s + 0.2, hold = site ? site->derivative(w) : 0.0;
        EXPECT_NEAR(sites.stiffness * sites.held(w, 0.3), sites.stiffness * 0.3 - hold, 4e-15 * (1.0 + std::abs(hold)));
        const double all = 0.5 * 0.09 / 1.3 + value + (site ? site->value(w) - site->value(0.0) : 0.0);
        EXPECT_NEAR(0.5 / sites.mass * sites.energy(3, 0.3, s, w), all, 1e-14 * (1.0 + std::abs(all)));
      }
    };
    std::visit(compare, state.material());
  }
}

TEST(NonlinearSites, RegistersAndTheOtherDirectionHaveTheBitsOfNumbers) {
  for (const NonlinearLaw& law : nonlinear_laws()) {
    SCOPED_TRACE(law.name);
    LineState state({.mass = 1.3, .far_end = FarEnd::joined}, {.law = law.line_law()}, 200, self_world(), 2);
    state.allocate();
    const auto compare = [&](const auto& along) {
      const auto against = std::get<std::decay_t<decltype(along)>>(state.material(1));
      for (double s = -1.3; s < 1.0; s += 0.07) {
        EXPECT_EQ(along.pull(0, s), -against.pull(0, -s));
        EXPECT_EQ(along.energy(0, s), against.energy(0, -s));
        EXPECT_EQ(along.held(s, 0.4), along.held(splat(s), splat(0.4))[0]);
        EXPECT_EQ(along.pull(0, s), along.pull(0, splat(s))[simd_width - 1]);
        if constexpr (!std::decay_t<decltype(along)>::has_rows) {
          EXPECT_EQ(along.energy(0, 0.3, s, 0.2), along.energy(0, splat(0.3), splat(s), splat(0.2))[0]);
        }
      }
    };
    const auto compare_nonlinear = [&](const auto& sites) {
      if constexpr (requires { sites.mirrored(); }) compare(sites);
    };
    std::visit(compare_nonlinear, state.material(0));
  }
}

}  // namespace
}  // namespace bathline::nonlinear_sites_test
