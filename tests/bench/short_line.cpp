// Steps of an oscillator on a line of the length that papers have, by turns with loops of plain C that do the same: the
// counter `of_plain`.
#include <vector>

#include "line_systems.hpp"

namespace bathline {
namespace {

constexpr double h = 0.5;
constexpr int turns = 20;

/// So many steps take some ten milliseconds.
int steps_on(std::int64_t sites) { return static_cast<int>(20'000'000 / sites); }

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
  time_by_turns(
      state, sites * steps, [&] { stepper->advance(steps); }, "of_plain", [&] { plain(line, steps); });
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

}  // namespace
}  // namespace bathline
