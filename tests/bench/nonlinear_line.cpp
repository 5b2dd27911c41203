// Explicit steps of chains with nonlinear springs between two particles, alternating with those of a linear line of as
// many sites: the counter `of_linear` is the ratio of their rates.
#include "bench_world.hpp"
#include "line_systems.hpp"
#include "model/line/nonlinear_line.hpp"
#include "nonlinear_laws.hpp"

namespace bathline {
namespace {

constexpr double step = 0.125;
constexpr int steps_of_a_block = 64;

/// Two oscillators at the ends of a chain that moves everywhere.
Problem oscillators_on_a_chain(const NonlinearLaw& law, std::int64_t sites) {
  const Attachment attachment = Attachment::of_terms({{0, 0, 1.0}, {1, 1, 1.0}}, 2);
  LineOptions options{.law = law.line_law()};
  options.w0 = {[](double i) { return 0.3 * std::sin(0.37 * i); }};
  std::vector<std::unique_ptr<Environment>> environments;
  environments.push_back(std::make_unique<NonlinearLine>("chain", attachment, 2,
                                                         LineConstants{.far_end = FarEnd::joined},
                                                         sites * bench_world().size(), bench_world(), options));
  ParticleSystem system;
  system.particles = 2;
  system.mass = Eigen::VectorXd::Ones(2);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Identity(2, 2));
  system.q0 = system.v0 = Eigen::VectorXd::Zero(2);
  Problem problem(system, Eigen::MatrixXd::Zero(2, 2), std::move(environments), bench_world());
  problem.prepare();
  return problem;
}

void advance_chain(benchmark::State& state, const NonlinearLaw& law, std::int64_t sites, int steps) {
  Problem problem = oscillators_on_a_chain(law, sites), linear = oscillator_on_a_line(sites, false);
  const std::unique_ptr<Stepper> stepper = make_stepper(gamma_scheme(0.0), problem, step),
                                 linear_stepper = make_stepper(gamma_scheme(0.0), linear, step);
  time_alternating(
      state, sites * bench_world().size() * steps, [&] { stepper->advance(steps); }, "of_linear",
      [&] { linear_stepper->advance(steps); });
}

const int registered = [] {
  const std::vector<NonlinearLaw> laws = {
      {"fput", potential_section("fput", {{"k", 1.0}, {"alpha", 0.0}, {"beta", 1.0}}), {}},
      {"phi4", potential_section("harmonic", {{"k", 1.0}, {"rest_length", 0.0}}), {formula_section("x^4/4")}},
      {"toda", potential_section("toda", {{"a", 1.0}, {"b", 1.0}}), {}},
      {"hertz", potential_section("hertz", {{"k", 1.0}, {"contact", 0.0}}), {}},
      {"polynomial", formula_section("r^2/2 + r^4/4 + r^6/6"), {}},
      {"formula", formula_section("sqrt(1 + r^2)"), {}},
  };
  for (const NonlinearLaw& law : laws) {
    benchmark::RegisterBenchmark(
        ("line/nonlinear/" + law.name).c_str(),
        [law](benchmark::State& state) { advance_chain(state, law, memory_resident_sites(), steps_of_a_block); })
        ->Iterations(iterations_of(steps_of_a_block))
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("line/nonlinear/in_cache/" + law.name).c_str(),
                                 [law](benchmark::State& state) { advance_chain(state, law, 512, 8'192); })
        ->Iterations(50)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  return 0;
}();

}  // namespace
}  // namespace bathline
