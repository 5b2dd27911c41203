// Explicit steps of an anharmonic particle in an Ohmic heat bath, one and several steps a pass.
#include "steppers/stepper.hpp"
#include "bench_world.hpp"
#include "methods/method.hpp"
#include "model/modes/oscillator_bath.hpp"
#include "quartic_potential.hpp"

namespace bathline::bath_bench {
namespace {

/// A Duffing oscillator in a bath of `oscillators` on every rank.
Problem particle_in_a_bath(std::int64_t oscillators, int steps_per_pass) {
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Ones(1);
  system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Ones(1, 1), 0.5);
  system.q0 = Eigen::VectorXd::Ones(1);
  system.v0 = Eigen::VectorXd::Zero(1);
  std::vector<std::unique_ptr<Environment>> bath;
  bath.push_back(std::make_unique<OscillatorBath>("bath", Attachment({{0, 1.0}}, 1),
                                                  ohmic_spectrum(oscillators * bench_world().size(), 0.2, 20.0), 0.0,
                                                  bench_world(), steps_per_pass));
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(bath), bench_world());
  problem.prepare();
  return problem;
}

/// An oscillator holds four numbers, a site of a line two; a quarter of the sites fits no cache either.
void advance_bath(benchmark::State& state, int steps_per_pass) {
  constexpr int steps = 32;
  const std::int64_t oscillators = memory_resident_sites() / 4;
  Section options;
  options.set("gamma", 0.0, {});
  const Scheme scheme = methods().find("gamma")->scheme(options);
  Problem problem = particle_in_a_bath(oscillators, steps_per_pass);
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, 0.01);
  time_on_all_ranks(state, oscillators * bench_world().size() * steps, [&] { stepper->advance(steps); });
}

void explicit_one_pass(benchmark::State& state) { advance_bath(state, 1); }
void explicit_s_step(benchmark::State& state) { advance_bath(state, 32); }

BENCHMARK(explicit_one_pass)
    ->Name("bath/explicit/one_pass")
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(explicit_s_step)->Name("bath/explicit/s_step")->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bathline::bath_bench
