// What a realisation of an ensemble consists of: a double well in a bath of Drude oscillators, by turns with loops of
// plain C that do the same, the counter `of_plain`.
#include <cmath>
#include <vector>

#include "advance/stepper.hpp"
#include "bench_world.hpp"
#include "integrate/catalogue.hpp"
#include "line_systems.hpp"
#include "model/star/star.hpp"
#include "quartic_potential.hpp"

namespace bathline {
namespace {

constexpr double h = 0.01;
constexpr int oscillators = 500, steps = 4'000, turns = 50;

/// V = -q^2/2 + q^4/4 in 500 oscillators that damp by 0.2, with the steps of a pass that recipes have by default.
Problem double_well_in_a_bath() {
  OpenSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Ones(1);
  system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, -1.0), 1.0);
  system.q0 = Eigen::VectorXd::Ones(1);
  system.v0 = Eigen::VectorXd::Constant(1, 0.3);
  std::vector<std::unique_ptr<Environment>> bath;
  bath.push_back(std::make_unique<Star>("bath", Attachment({{0, 1.0}}, 1), drude_spectrum(oscillators, 0.2, 20.0, 5.0),
                                        0.5, 32, bench_world()));
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(bath), bench_world());
  problem.prepare();
  return problem;
}

/// The same from anywhere.
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
  time_by_turns(
      state, std::int64_t{oscillators} * steps, [&] { stepper->advance(steps); }, "of_plain", [&] { plain.advance(); });
}

BENCHMARK(double_well)->Name("ensemble/double_well")->Iterations(turns)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bathline
