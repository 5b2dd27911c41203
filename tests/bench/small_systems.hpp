// Systems of a few particles, and chains of many, for benchmarks.
#pragma once

#include <stdexcept>

#include "steppers/stepper.hpp"
#include "bench_world.hpp"
#include "methods/catalogue.hpp"
#include "model/environment_catalogue.hpp"
#include "model/system_catalogue.hpp"
#include "recipe/describe.hpp"

namespace bathline {

/// Keys that are not given have their defaults.
inline ParticleSystem system_of(const SystemKind& kind, const Section& given) {
  ParticleSystem system;
  Mistakes mistakes;
  Section section = default_section(kind.entry);
  for (const std::string& key : given.keys()) section.set(key, given.value(key), {});
  kind.build(section, potentials(), system, mistakes);
  if (!mistakes.empty()) throw std::logic_error(mistakes.report());
  return system;
}

/// M = mu = 1 from (1, 0) with (0, 1.1), undamped.
inline ParticleSystem kepler() {
  Section section;
  for (const char* key : {"M", "mu"}) section.set(key, 1.0, {});
  section.set("alpha", 0.0, {});
  section.set("q0", Section::Rows{{1.0, 0.0}}, {});
  section.set("v0", Section::Rows{{0.0, 1.1}}, {});
  return system_of(kepler_kind(), section);
}

/// Masses 1 and 2 on springs 1 and 2, a damper of 0.1 between them.
inline ParticleSystem dual_oscillator() {
  Section section;
  const std::pair<const char*, double> numbers[] = {
      {"m0", 1.0}, {"M0", 2.0}, {"k0", 1.0}, {"K0", 2.0}, {"damping", 0.1}};
  for (const auto& [key, value] : numbers) section.set(key, value, {});
  section.set("q0", Section::Rows{{1.0}, {0.0}}, {});
  return system_of(dual_oscillator_kind(), section);
}

/// Three atoms in the plane near their equilibrium.
inline ParticleSystem trimer() {
  Section section, potential;
  potential.set("kind", std::string("lennard-jones"), {});
  for (const char* key : {"epsilon", "sigma"}) potential.set(key, 1.0, {});
  section.set("potential", std::vector<Section>{potential}, {});
  section.set("masses", std::vector<double>{1.0, 1.0, 1.0}, {});
  section.set("q0", Section::Rows{{0.0, 0.0}, {1.15, 0.0}, {0.5, 1.0}}, {});
  section.set("v0", Section::Rows{{0.0, 0.1}, {-0.1, 0.0}, {0.1, 0.0}}, {});
  return system_of(pair_potential_kind(), section);
}

/// Fermi, Pasta, Ulam and Tsingou's chain between walls, in its lowest mode.
inline ParticleSystem chain(int particles) {
  Section section, potential;
  potential.set("kind", std::string("fput"), {});
  potential.set("k", 1.0, {});
  potential.set("alpha", 0.25, {});
  potential.set("beta", 0.0, {});
  section.set("potential", std::vector<Section>{potential}, {});
  section.set("masses", 1.0, {});
  section.set("particles", static_cast<long>(particles), {});
  section.set("pairs", std::string("neighbours"), {});
  section.set("ends", std::string("fixed"), {});
  section.set("q0", "sin(pi*(i+1)/" + std::to_string(particles + 1) + ")", {});
  return system_of(pair_potential_kind(), section);
}

inline ParticleSystem henon_heiles() {
  Section section;
  section.set("coordinates", std::vector<std::string>{"x", "y"}, {});
  section.set("V", std::string("0.5*(x^2 + y^2) + x^2*y - y^3/3"), {});
  section.set("masses", std::vector<double>{1.0, 1.0}, {});
  section.set("q0", Section::Rows{{0.0}, {0.1}}, {});
  section.set("v0", Section::Rows{{0.4}, {0.0}}, {});
  return system_of(formula_kind(), section);
}

inline ParticleSystem double_well() {
  Section section;
  section.set("coordinates", std::vector<std::string>{"x"}, {});
  section.set("V", std::string("(x^2 - 1)^2"), {});
  section.set("masses", std::vector<double>{1.0}, {});
  section.set("q0", Section::Rows{{1.3}}, {});
  return system_of(formula_kind(), section);
}

/// x'' = -x + (1 - x^2) x' from its limit cycle.
inline ParticleSystem van_der_pol() {
  Section section;
  section.set("coordinates", std::vector<std::string>{"x"}, {});
  section.set("V", std::string("x^2/2"), {});
  section.set("force", std::vector<std::string>{"(1 - x^2)*x_dot"}, {});
  section.set("masses", std::vector<double>{1.0}, {});
  section.set("q0", Section::Rows{{2.0}}, {});
  return system_of(formula_kind(), section);
}

inline ParticleSystem double_pendulum() {
  Section section;
  section.set("coordinates", std::vector<std::string>{"a", "b"}, {});
  section.set("L", std::string("a_dot^2 + b_dot^2/2 + a_dot*b_dot*cos(a - b) + 19.62*cos(a) + 9.81*cos(b)"), {});
  section.set("q0", Section::Rows{{0.8}, {-0.5}}, {});
  section.set("v0", Section::Rows{{0.2}, {0.4}}, {});
  section.set("damping", Section::Rows{{0.0}, {0.0}}, {});
  return system_of(lagrangian_kind(), section);
}

/// A method of the catalogue and one of its options.
struct MethodChoice {
  const char* name;
  const char* option = "";
  Section::Value value = {};

  Scheme scheme() const {
    Section options;
    if (*option != 0) options.set(option, value, {});
    return methods().find(name)->scheme(options);
  }
};

/// Times `steps` steps of `h`, alone or alternating with `plain`, which does as many.
template <class... Plain>
void time_steps(benchmark::State& state, const ParticleSystem& system, const MethodChoice& method, int steps, double h,
                Plain... plain) {
  const Eigen::MatrixXd damping = system.damping.value_or(Eigen::MatrixXd::Zero(system.size(), system.size()));
  Problem problem(system, damping, {}, bench_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(method.scheme(), problem, h);
  const auto work = [&] {
    if (stepper->advance(steps)) state.SkipWithError("a step failed");
  };
  if constexpr (sizeof...(plain) > 0) {
    time_alternating(state, steps, work, "of_plain", plain...);
  } else {
    time_on_all_ranks(state, steps, work);
  }
}

}  // namespace bathline
