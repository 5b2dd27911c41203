// Steps of a few particles, by turns with loops of plain C for the one problem that they know: the counter `of_plain`.
#include <cmath>

#include "advance/stepper.hpp"
#include "bench_world.hpp"
#include "integrate/catalogue.hpp"
#include "model/system_catalogue.hpp"

namespace bathline {
namespace {

constexpr int steps = 100'000, turns = 20;
constexpr double h = 0.01;

OpenSystem system_of(const SystemKind& kind, Section section) {
  OpenSystem system;
  Mistakes mistakes;
  kind.build(section, potentials(), system, mistakes);
  if (!mistakes.empty()) throw std::logic_error(mistakes.report());
  return system;
}

/// M = mu = 1 from (1, 0) with (0, 1.1), undamped.
OpenSystem kepler() {
  Section section;
  for (const char* one : {"M", "mu"}) section.set(one, 1.0, {});
  section.set("alpha", 0.0, {});
  section.set("q0", Section::Rows{{1.0, 0.0}}, {});
  section.set("v0", Section::Rows{{0.0, 1.1}}, {});
  return system_of(kepler_kind(), section);
}

/// Masses 1 and 2 on springs 1 and 2, a damper of 0.1 between them.
OpenSystem dual_oscillator() {
  Section section;
  const std::pair<const char*, double> numbers[] = {
      {"m0", 1.0}, {"M0", 2.0}, {"k0", 1.0}, {"K0", 2.0}, {"damping", 0.1}};
  for (const auto& [key, value] : numbers) section.set(key, value, {});
  section.set("q0", Section::Rows{{1.0}, {0.0}}, {});
  return system_of(dual_oscillator_kind(), section);
}

OpenSystem double_pendulum() {
  Section section;
  section.set("coordinates", std::vector<std::string>{"a", "b"}, {});
  section.set("L", std::string("a_dot^2 + b_dot^2/2 + a_dot*b_dot*cos(a - b) + 19.62*cos(a) + 9.81*cos(b)"), {});
  section.set("q0", Section::Rows{{0.8}, {-0.5}}, {});
  section.set("v0", Section::Rows{{0.2}, {0.4}}, {});
  section.set("damping", Section::Rows{{0.0}, {0.0}}, {});
  return system_of(lagrangian_kind(), section);
}

/// The implicit midpoint rule on Kepler's problem, Newton's method by hand.
void plain_kepler(double* q, double* p) {
  for (int step = 0; step < steps; ++step) {
    const auto force = [](double x, double y, double* f) {
      const double r2 = x * x + y * y, r3 = r2 * std::sqrt(r2);
      f[0] = -x / r3;
      f[1] = -y / r3;
    };
    double f[2], v[2];
    force(q[0], q[1], f);
    for (int i = 0; i < 2; ++i) v[i] = p[i] + 0.5 * h * f[i];
    for (int iteration = 0; iteration < 20; ++iteration) {
      const double x = q[0] + 0.5 * h * v[0], y = q[1] + 0.5 * h * v[1];
      const double r2 = x * x + y * y, r5 = r2 * r2 * std::sqrt(r2), k = 0.25 * h * h;
      force(x, y, f);
      const double r0 = v[0] - p[0] - 0.5 * h * f[0], r1 = v[1] - p[1] - 0.5 * h * f[1];
      const double a = 1.0 + k * (r2 - 3.0 * x * x) / r5, b = -3.0 * k * x * y / r5,
                   d = 1.0 + k * (r2 - 3.0 * y * y) / r5;
      const double determinant = a * d - b * b;
      v[0] -= (d * r0 - b * r1) / determinant;
      v[1] -= (a * r1 - b * r0) / determinant;
      if (std::abs(r0) + std::abs(r1) < 1e-15) break;
    }
    force(q[0] + 0.5 * h * v[0], q[1] + 0.5 * h * v[1], f);
    for (int i = 0; i < 2; ++i) {
      q[i] += h * v[i];
      p[i] += h * f[i];
    }
  }
  benchmark::DoNotOptimize(q[0]);
}

/// Times steps of the method `name` with `option` = `value`, alone or by turns with `plain`.
template <class... Plain>
void time_steps(benchmark::State& state, const OpenSystem& system, const char* name, const char* option,
                Section::Value value, Plain... plain) {
  Section options;
  options.set(option, std::move(value), {});
  const Method& method = *methods().find(name);
  const Eigen::MatrixXd damping = system.damping.value_or(Eigen::MatrixXd::Zero(system.size(), system.size()));
  Problem problem(system, damping, {}, bench_world());
  const std::unique_ptr<Stepper> stepper = make_stepper(method.scheme(options), problem, h);
  const auto work = [&] {
    if (stepper->advance(steps)) state.SkipWithError("a step failed");
  };
  if constexpr (sizeof...(plain) > 0) {
    time_by_turns(state, steps, work, "of_plain", plain...);
  } else {
    time_together(state, steps, work);
  }
}

void kepler_midpoint(benchmark::State& state) {
  double q[2] = {1.0, 0.0}, p[2] = {0.0, 1.1};
  time_steps(state, kepler(), "gamma", "gamma", 0.5, [&] { plain_kepler(q, p); });
}
void kepler_gauss(benchmark::State& state) { time_steps(state, kepler(), "gauss", "stages", 2L); }
void kepler_lobatto(benchmark::State& state) { time_steps(state, kepler(), "lobatto", "stages", 3L); }
void dual_midpoint(benchmark::State& state) { time_steps(state, dual_oscillator(), "gamma", "gamma", 0.5); }
void dual_gauss(benchmark::State& state) { time_steps(state, dual_oscillator(), "gauss", "stages", 2L); }
void pendulum_gauss(benchmark::State& state) { time_steps(state, double_pendulum(), "gauss", "stages", 2L); }

BENCHMARK(kepler_midpoint)->Name("small/kepler/midpoint")->Iterations(turns)->UseManualTime();
BENCHMARK(kepler_gauss)->Name("small/kepler/gauss2")->Iterations(turns)->UseManualTime();
BENCHMARK(kepler_lobatto)->Name("small/kepler/lobatto3")->Iterations(turns)->UseManualTime();
BENCHMARK(dual_midpoint)->Name("small/dual/midpoint")->Iterations(turns)->UseManualTime();
BENCHMARK(dual_gauss)->Name("small/dual/gauss2")->Iterations(turns)->UseManualTime();
BENCHMARK(pendulum_gauss)->Name("small/double_pendulum/gauss2")->Iterations(turns)->UseManualTime();

}  // namespace
}  // namespace bathline
