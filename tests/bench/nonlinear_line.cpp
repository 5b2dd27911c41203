// Explicit steps of chains with nonlinear springs between two particles, alternating with those of a linear line of as
// many sites: the counter `of_linear` is the ratio of their rates. `of_plain` is that to two loops over all sites a
// step.
#include "bench_world.hpp"
#include "line_systems.hpp"
#include "model/line/nonlinear_line.hpp"
#include "nonlinear_laws.hpp"

namespace bathline::nonlinear_line_bench {
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

/// A chain of FPUT-beta with `springs`, alternating with the same steps by two loops.
void advance_fput_and_plain_loops(benchmark::State& state, const NonlinearLaw& springs) {
  const std::int64_t sites = memory_resident_sites();
  Problem problem = oscillators_on_a_chain(springs, sites);
  const std::unique_ptr<Stepper> stepper = make_stepper(gamma_scheme(0.0), problem, step);
  std::vector<double> q(static_cast<std::size_t>(sites) + 2), p(q.size());
  for (std::size_t i = 1; i + 1 < q.size(); ++i) q[i] = 0.3 * std::sin(0.37 * static_cast<double>(i - 1));
  constexpr int plain_steps = 8;
  time_alternating(
      state, sites * bench_world().size() * steps_of_a_block, [&] { stepper->advance(steps_of_a_block); }, "of_plain",
      [&] {
        for (int n = 0; n < plain_steps; ++n) {
          for (std::size_t i = 1; i + 1 < q.size(); ++i) q[i] += step * p[i];
          double before = q[1] - q[0];
          before += before * before * before;
          for (std::size_t i = 1; i + 1 < q.size(); ++i) {
            double after = q[i + 1] - q[i];
            after += after * after * after;
            p[i] += step * (after - before);
            before = after;
          }
          benchmark::ClobberMemory();
        }
      });
  // The loops have taken fewer steps.
  state.counters["of_plain"] = state.counters["of_plain"] * steps_of_a_block / plain_steps;
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
  benchmark::RegisterBenchmark(
      "line/nonlinear/plain_loops",
      [fput = laws.front()](benchmark::State& state) { advance_fput_and_plain_loops(state, fput); })
      ->Iterations(iterations_of(steps_of_a_block))
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
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
}  // namespace bathline::nonlinear_line_bench
