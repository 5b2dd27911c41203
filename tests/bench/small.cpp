// Steps of a few particles and of chains, alternating with loops of plain C for a single problem each; the counter
// `of_plain` is the ratio of rates.
#include <algorithm>
#include <cmath>

#include "small_systems.hpp"

namespace bathline::small_bench {
namespace {

constexpr int steps = 100'000, turns = 20;
constexpr double h = 0.01;

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

/// Stoermer-Verlet on the same, with the force at a step's end reused in the next.
void plain_kepler_verlet(double* q, double* p) {
  double f[2];
  const auto update_force = [&] {
    const double r2 = q[0] * q[0] + q[1] * q[1], k = -1.0 / (r2 * std::sqrt(r2));
    for (int i = 0; i < 2; ++i) f[i] = k * q[i];
  };
  update_force();
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < 2; ++i) p[i] += 0.5 * h * f[i];
    for (int i = 0; i < 2; ++i) q[i] += h * p[i];
    update_force();
    for (int i = 0; i < 2; ++i) p[i] += 0.5 * h * f[i];
  }
  benchmark::DoNotOptimize(p[0]);
}

/// The dual oscillator with its damper: a drift, then a kick with the velocity after it.
void plain_dual(double* q, double* p) {
  const double mass[2] = {1.0, 2.0}, stiffness[2] = {1.0, 2.0}, damping = 0.1;
  // (1 + h C M^-1) p+ = p - h K q with C = damping (1, -1; -1, 1).
  const double a = 1.0 + h * damping / mass[0], b = -h * damping / mass[1], c = -h * damping / mass[0],
               d = 1.0 + h * damping / mass[1], determinant = a * d - b * c;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < 2; ++i) q[i] += h * p[i] / mass[i];
    const double f = p[0] - h * stiffness[0] * q[0], g = p[1] - h * stiffness[1] * q[1];
    p[0] = (d * f - b * g) / determinant;
    p[1] = (a * g - c * f) / determinant;
  }
  benchmark::DoNotOptimize(p[0]);
}

/// Three Lennard-Jones atoms under Stoermer-Verlet, force in powers of 1/r^2.
void plain_trimer(double* q, double* p) {
  double f[6];
  const auto update_force = [&] {
    std::fill_n(f, 6, 0.0);
    for (int a = 0; a < 3; ++a) {
      for (int b = a + 1; b < 3; ++b) {
        const double x = q[2 * b] - q[2 * a], y = q[2 * b + 1] - q[2 * a + 1], r2 = 1.0 / (x * x + y * y);
        const double r6 = r2 * r2 * r2, k = 24.0 * r2 * r6 * (2.0 * r6 - 1.0);
        f[2 * b] += k * x;
        f[2 * b + 1] += k * y;
        f[2 * a] -= k * x;
        f[2 * a + 1] -= k * y;
      }
    }
  };
  update_force();
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < 6; ++i) p[i] += 0.5 * h * f[i];
    for (int i = 0; i < 6; ++i) q[i] += h * p[i];
    update_force();
    for (int i = 0; i < 6; ++i) p[i] += 0.5 * h * f[i];
  }
  benchmark::DoNotOptimize(p[0]);
}

const MethodChoice midpoint{"gamma", "gamma", 0.5}, gamma0{"gamma", "gamma", 0.0}, gauss2{"gauss", "stages", 2L},
    lobatto3{"lobatto", "stages", 3L}, verlet{"stoermer-verlet", "order_of_substeps", std::string("kick-drift-kick")};

void kepler_midpoint(benchmark::State& state) {
  double q[2] = {1.0, 0.0}, p[2] = {0.0, 1.1};
  time_steps(state, kepler(), midpoint, steps, h, [&] { plain_kepler(q, p); });
}
void kepler_verlet(benchmark::State& state) {
  double q[2] = {1.0, 0.0}, p[2] = {0.0, 1.1};
  time_steps(state, kepler(), verlet, steps, h, [&] { plain_kepler_verlet(q, p); });
}
void dual_gamma0(benchmark::State& state) {
  double q[2] = {1.0, 0.0}, p[2] = {0.0, 0.0};
  time_steps(state, dual_oscillator(), gamma0, steps, h, [&] { plain_dual(q, p); });
}
void trimer_verlet(benchmark::State& state) {
  double q[6] = {0.0, 0.0, 1.15, 0.0, 0.5, 1.0}, p[6] = {0.0, 0.1, -0.1, 0.0, 0.1, 0.0};
  time_steps(state, trimer(), verlet, steps, h, [&] { plain_trimer(q, p); });
}
/// A system and a method without a comparison.
void alone(benchmark::State& state, ParticleSystem (*system)(), const MethodChoice& method) {
  time_steps(state, system(), method, steps, h);
}
/// A double well with an environment on a function of its coordinate that is not linear; the counter `of_bare` is the
/// ratio to that on the coordinate.
void coupled(benchmark::State& state, const char* kind, const char* couple, const MethodChoice& method) {
  const ParticleSystem system = double_well();
  const auto problem_with = [&](const char* formula) {
    Section section;
    Mistakes mistakes;
    section.set("kind", std::string(kind), {});
    section.set("name", std::string("bath"), {});
    section.set("couple", std::string(formula), {});
    section.set("kT", 0.0, {});
    if (std::string(kind) == "damper") section.set("damping", 0.3, {});
    section.set("stiffness", std::vector<double>{0.9, 0.4, 0.2}, {});
    section.set("rate", std::vector<double>{0.8, 1.7, 3.0}, {});
    section.set("frequency", std::vector<double>{1.2, 0.0, 2.0}, {});
    std::vector<std::unique_ptr<Environment>> bath;
    bath.push_back(environments().find(kind)->build(section, system, {h, 1.0}, bench_world(), mistakes));
    if (!mistakes.empty()) throw std::logic_error(mistakes.report());
    Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(bath), bench_world());
    problem.prepare();
    return problem;
  };
  Problem curved = problem_with(couple), bare = problem_with("x");
  const std::unique_ptr<Stepper> of_curved = make_stepper(method.scheme(), curved, h),
                                 of_bare = make_stepper(method.scheme(), bare, h);
  const auto work = [&] {
    if (of_curved->advance(steps)) state.SkipWithError("a step failed");
  };
  time_alternating(state, steps, work, "of_bare", [&] {
    if (of_bare->advance(steps)) state.SkipWithError("a step failed");
  });
}
/// A chain of so many particles, whose step should take a time proportional to their number.
void chain_steps(benchmark::State& state, const MethodChoice& method, double step) {
  const auto particles = static_cast<int>(state.range(0));
  time_steps(state, chain(particles), method, 409'600 / particles, step);
  state.SetItemsProcessed(state.iterations() * 409'600);
}

BENCHMARK(kepler_midpoint)->Name("small/kepler/midpoint")->Iterations(turns)->UseManualTime();
BENCHMARK(kepler_verlet)->Name("small/kepler/verlet")->Iterations(turns)->UseManualTime();
BENCHMARK(dual_gamma0)->Name("small/dual/gamma0")->Iterations(turns)->UseManualTime();
BENCHMARK(trimer_verlet)->Name("small/trimer/verlet")->Iterations(turns)->UseManualTime();
BENCHMARK_CAPTURE(alone, kepler_gauss2, kepler, gauss2)
    ->Name("small/kepler/gauss2")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(alone, kepler_lobatto3, kepler, lobatto3)
    ->Name("small/kepler/lobatto3")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(alone, dual_midpoint, dual_oscillator, midpoint)
    ->Name("small/dual/midpoint")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(alone, dual_gauss2, dual_oscillator, gauss2)
    ->Name("small/dual/gauss2")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(alone, trimer_gauss2, trimer, gauss2)
    ->Name("small/trimer/gauss2")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(alone, trimer_lobatto3, trimer, lobatto3)
    ->Name("small/trimer/lobatto3")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(alone, henon_verlet, henon_heiles, verlet)
    ->Name("small/henon_heiles/verlet")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(alone, henon_gauss2, henon_heiles, gauss2)
    ->Name("small/henon_heiles/gauss2")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(alone, van_der_pol_gauss2, van_der_pol, gauss2)
    ->Name("small/van_der_pol/gauss2")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(alone, van_der_pol_lobatto3, van_der_pol, lobatto3)
    ->Name("small/van_der_pol/lobatto3")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(alone, pendulum_gauss2, double_pendulum, gauss2)
    ->Name("small/double_pendulum/gauss2")
    ->Iterations(turns)
    ->UseManualTime();
// The polynomial shows what the stepper takes; exp and tanh take as long as several steps with a bare coordinate.
constexpr const char *polynomial = "x*(1 + x^2/5)", *functions = "x*(1 + 0.6*exp(-x^2/2) + 0.4*tanh(x))";
BENCHMARK_CAPTURE(coupled, memory_verlet_polynomial, "memory", polynomial, verlet)
    ->Name("small/coupled_memory/verlet/polynomial")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(coupled, memory_verlet_functions, "memory", functions, verlet)
    ->Name("small/coupled_memory/verlet/functions")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(coupled, memory_gauss2_polynomial, "memory", polynomial, gauss2)
    ->Name("small/coupled_memory/gauss2/polynomial")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(coupled, memory_gauss2_functions, "memory", functions, gauss2)
    ->Name("small/coupled_memory/gauss2/functions")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(coupled, damper_verlet_polynomial, "damper", polynomial, verlet)
    ->Name("small/coupled_damper/verlet/polynomial")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(coupled, damper_verlet_functions, "damper", functions, verlet)
    ->Name("small/coupled_damper/verlet/functions")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(coupled, damper_gauss2_polynomial, "damper", polynomial, gauss2)
    ->Name("small/coupled_damper/gauss2/polynomial")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(coupled, damper_gauss2_functions, "damper", functions, gauss2)
    ->Name("small/coupled_damper/gauss2/functions")
    ->Iterations(turns)
    ->UseManualTime();
// With the longer step the masses in place of Newton's matrix do not suffice.
BENCHMARK_CAPTURE(chain_steps, gauss2, gauss2, 0.1)
    ->Name("chain/gauss2")
    ->Arg(256)
    ->Arg(1024)
    ->Arg(4096)
    ->Iterations(3)
    ->UseManualTime();
BENCHMARK_CAPTURE(chain_steps, stiff, gauss2, 1.5)
    ->Name("chain/gauss2_newton")
    ->Arg(256)
    ->Arg(1024)
    ->Arg(4096)
    ->Iterations(3)
    ->UseManualTime();

}  // namespace
}  // namespace bathline::small_bench
