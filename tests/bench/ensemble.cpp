// Realisations of ensembles: a double well in a bath of Drude oscillators, and batches of open double wells,
// alternating with loops of plain C that do the same; the counter `of_plain` is the ratio of rates.
#include <cmath>
#include <vector>

#include "steppers/batch_stepper.hpp"
#include "steppers/stepper.hpp"
#include "bench_world.hpp"
#include "methods/catalogue.hpp"
#include "line_systems.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/potentials/pair_potential_sum.hpp"
#include "model/modes/oscillator_bath.hpp"
#include "quartic_potential.hpp"

namespace bathline::ensemble_bench {
namespace {

constexpr double h = 0.01;
constexpr int oscillators = 500, steps = 4'000, turns = 50;

/// V = -q^2/2 + q^4/4 in 500 oscillators that damp by 0.2, with the steps of a pass that recipes have by default.
Problem double_well_in_a_bath() {
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Ones(1);
  system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, -1.0), 1.0);
  system.q0 = Eigen::VectorXd::Ones(1);
  system.v0 = Eigen::VectorXd::Constant(1, 0.3);
  std::vector<std::unique_ptr<Environment>> bath;
  bath.push_back(std::make_unique<OscillatorBath>("bath", Attachment({{0, 1.0}}, 1),
                                                  drude_spectrum(oscillators, 0.2, 20.0, 5.0), 0.5, bench_world()));
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(bath), bench_world());
  problem.prepare();
  return problem;
}

/// The same system in plain loops.
struct PlainBath {
  std::vector<double> w = std::vector<double>(oscillators), p = w, k = std::vector<double>(oscillators, 0.01);
  double q = 1.0, v = 0.3;

  void advance() {
    for (int step = 0; step < steps; ++step) {
      q += h * v;
      for (int j = 0; j < oscillators; ++j) w[j] += h * p[j];
      double force = q - q * q * q;
      for (int j = 0; j < oscillators; ++j) {
        const double pull = k[j] * (w[j] - q);
        force += pull;
        p[j] -= h * pull;
      }
      v += h * force;
    }
    benchmark::DoNotOptimize(v);
  }
};

void double_well(benchmark::State& state) {
  Problem problem = double_well_in_a_bath();
  const std::unique_ptr<Stepper> stepper = make_stepper(gamma_scheme(0.0), problem, h);
  PlainBath plain;
  time_alternating(
      state, std::int64_t{oscillators} * steps, [&] { stepper->advance(steps); }, "of_plain", [&] { plain.advance(); });
}

constexpr int open_steps = 10'000;
// So small that the particles never come to rest in the wells, where many numbers are zero.
constexpr double open_damping = 1e-4, temperature = 0.25;

/// V = ((q/a)^2 - 1)^2 with friction and, on request, with its noise.
std::vector<Problem> open_double_wells(bool noise) {
  Section section;
  section.set("kind", std::string("double-well"), {});
  section.set("barrier", 0.25, {});
  section.set("half_distance", 1.0, {});
  Mistakes mistakes;
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Ones(1);
  system.potential = std::make_shared<PairPotentialSum>(
      std::vector<PairPotentialSum::Term>{
          {PairPotentialSum::origin, 0, build_potential(potentials(), section, mistakes)}},
      1);
  system.q0 = Eigen::VectorXd::Zero(1);
  std::vector<Problem> problems;
  for (std::uint32_t realisation = 0; realisation < BatchStepper::max_realisations; ++realisation) {
    system.v0 = Eigen::VectorXd::Constant(1, 0.3 + 0.01 * realisation);
    problems.emplace_back(system, Eigen::MatrixXd::Constant(1, 1, open_damping),
                          std::vector<std::unique_ptr<Environment>>(), bench_world());
    if (noise) problems.back().add_noise(Eigen::MatrixXd::Constant(1, 1, open_damping * temperature));
    problems.back().prepare(7, realisation);
  }
  return problems;
}

/// Realisations one after the other, Stoermer-Verlet with friction.
void plain_double_wells(std::vector<double>& q, std::vector<double>& p) {
  const double half = 0.5 * h, inverse = 1.0 / (1.0 + half * open_damping);
  for (std::size_t r = 0; r < q.size(); ++r) {
    double x = q[r], v = p[r];
    for (int step = 0; step < open_steps; ++step) {
      v = (v - half * (x * (x * x - 1.0))) * inverse;
      x += h * v;
      v -= half * (x * (x * x - 1.0) + open_damping * v);
    }
    q[r] = x;
    p[r] = v;
  }
  benchmark::DoNotOptimize(q.data());
}

ExplicitScheme kick_drift_kick() {
  Section options;
  options.set("order_of_substeps", std::string("kick-drift-kick"), {});
  return std::get<ExplicitScheme>(methods().find("stoermer-verlet")->scheme(options));
}

void open_particles(benchmark::State& state, bool noise) {
  std::vector<Problem> problems = open_double_wells(noise);
  const std::unique_ptr<BatchStepper> batch = make_batch_stepper(kick_drift_kick(), problems, h);
  std::vector<double> q(problems.size()), p(problems.size(), 0.3);
  const std::int64_t items = open_steps * static_cast<std::int64_t>(problems.size());
  const auto work = [&] { batch->advance(open_steps); };
  if (noise) {
    time_on_all_ranks(state, items, work);
  } else {
    time_alternating(state, items, work, "of_plain", [&] { plain_double_wells(q, p); });
  }
}

BENCHMARK_CAPTURE(open_particles, cold, false)
    ->Name("ensemble/open_particles")
    ->Iterations(turns)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(open_particles, warm, true)
    ->Name("ensemble/open_particles/noise")
    ->Iterations(turns)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(double_well)->Name("ensemble/double_well")->Iterations(turns)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bathline::ensemble_bench
