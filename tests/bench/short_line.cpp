// Steps of an oscillator on a line of the length used in papers, alternating with loops of plain C that do the same;
// the counter `of_plain` is the ratio of rates.
#include <vector>

#include "line_systems.hpp"

namespace bathline::short_line_bench {
namespace {

constexpr double h = 0.5, implicit_h = 0.1;
constexpr int turns = 100;

/// These steps take a few milliseconds, less than a time slice of the scheduler.
int steps_on(std::int64_t sites) { return static_cast<int>(4'000'000 / sites); }

/// The oscillator and the line of `oscillator_on_a_line`. Sites lie between the head and the far end.
struct PlainLine {
  explicit PlainLine(std::int64_t sites) : count(sites), w(static_cast<std::size_t>(sites + 2)), p(w.size()) {}

  void drift(double seconds) {
    w[0] += seconds * head_p;
    for (std::int64_t j = 1; j <= count; ++j) w[j] += seconds * p[j];
  }
  void kick(double seconds) {
    head_p += seconds * (w[1] - w[0] - w[0]);
    for (std::int64_t j = 1; j <= count; ++j) p[j] += seconds * ((w[j + 1] - w[j]) - (w[j] - w[j - 1]));
  }

  std::int64_t count;
  std::vector<double> w, p;
  double head_p = 1.0;
};

void plain_drift_kick(PlainLine& line, int steps) {
  for (int step = 0; step < steps; ++step) {
    line.drift(h);
    line.kick(h);
  }
}

void plain_verlet(PlainLine& line, int steps) {
  for (int step = 0; step < steps; ++step) {
    line.kick(0.5 * h);
    line.drift(h);
    line.kick(0.5 * h);
  }
}

/// The implicit midpoint rule: the momenta at the middle solve one tridiagonal system, by Thomas' algorithm with stored
/// factors. The oscillator is its first row.
void plain_midpoint(PlainLine& line, int steps) {
  const double step = implicit_h, c = 0.25 * step * step;
  const auto n = static_cast<std::size_t>(line.count + 1);
  static std::vector<double> factor, middle;
  if (factor.size() != n) {
    factor.assign(n, 0.0);
    middle.assign(n, 0.0);
    for (std::size_t j = 0; j < n; ++j) factor[j] = 1.0 / (1.0 + 2.0 * c - (j > 0 ? c * c * factor[j - 1] : 0.0));
  }
  std::vector<double>&w = line.w, &p = line.p;
  for (int i = 0; i < steps; ++i) {
    // (1 + c K) P = p - h/2 K w with K = (2, -1; -1, 2, -1; ...): the oscillator has a spring of its own.
    p[0] = line.head_p;
    for (std::size_t j = 0; j < n; ++j) {
      const double pull = 2.0 * w[j] - (j > 0 ? w[j - 1] : 0.0) - w[j + 1];
      middle[j] = (p[j] - 0.5 * step * pull + (j > 0 ? c * middle[j - 1] : 0.0)) * factor[j];
    }
    for (std::size_t j = n - 1; j-- > 0;) middle[j] += c * factor[j] * middle[j + 1];
    for (std::size_t j = 0; j < n; ++j) {
      w[j] += step * middle[j];
      p[j] = 2.0 * middle[j] - p[j];
    }
    line.head_p = p[0];
  }
}

Scheme verlet() {
  Section options;
  options.set("order_of_substeps", std::string("kick-drift-kick"), {});
  return methods().find("stoermer-verlet")->scheme(options);
}

void advance_short_line(benchmark::State& state, const Scheme& scheme, void (*plain)(PlainLine&, int)) {
  const std::int64_t sites = state.range(0);
  const int steps = steps_on(sites);
  Problem problem = oscillator_on_a_line(sites, false);
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
  PlainLine line(sites);
  time_alternating(
      state, sites * steps, [&] { stepper->advance(steps); }, "of_plain", [&] { plain(line, steps); });
}

/// `plain` may be null.
void advance_implicitly(benchmark::State& state, const Scheme& scheme, void (*plain)(PlainLine&, int)) {
  const std::int64_t sites = state.range(0);
  const int steps = steps_on(sites) / 10;
  Problem problem = oscillator_on_a_line(sites, false);
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, implicit_h);
  const auto advance = [&] { stepper->advance(steps); };
  PlainLine line(sites);
  if (plain != nullptr) {
    time_alternating(state, sites * steps, advance, "of_plain", [&] { plain(line, steps); });
  } else {
    time_on_all_ranks(state, sites * steps, advance);
  }
}

BENCHMARK_CAPTURE(advance_short_line, gamma0, gamma_scheme(0.0), plain_drift_kick)
    ->Name("line/explicit")
    ->Arg(100)
    ->Arg(500)
    ->Arg(5'000)
    ->Arg(20'000)
    ->Iterations(turns)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(advance_short_line, verlet, verlet(), plain_verlet)
    ->Name("line/verlet")
    ->Arg(100)
    ->Arg(500)
    ->Arg(5'000)
    ->Arg(20'000)
    ->Iterations(turns)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(advance_implicitly, midpoint, gamma_scheme(0.5), plain_midpoint)
    ->Name("line/implicit")
    ->Arg(100)
    ->Arg(500)
    ->Arg(5'000)
    ->Iterations(turns)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(advance_implicitly, gauss2, gauss_scheme(2), nullptr)
    ->Name("line/implicit/gauss2")
    ->Arg(100)
    ->Arg(500)
    ->Arg(5'000)
    ->Iterations(turns)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bathline::short_line_bench
