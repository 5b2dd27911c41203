// Explicit and implicit steps of a particle with a long line, by the program's own kernels. Nothing is left out: what
// has not moved yet is computed all the same.
#include <limits>

#include "advance/stepper.hpp"
#include "bench_world.hpp"
#include "integrate/method.hpp"
#include "model/line/line.hpp"
#include "model/line/implicit_tile.hpp"
#include "model/line/tile.hpp"

namespace bathline {
namespace {

/// An oscillator on a fixed line of `sites` sites on every rank, with h sqrt(lambda/M) = 1/2.
Problem oscillator_on_a_line(std::int64_t sites, bool unequal) {
  OpenSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Ones(1);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Ones(1, 1));
  system.q0 = Eigen::VectorXd::Zero(1);
  system.v0 = Eigen::VectorXd::Ones(1);
  LineOptions options{.skip_resting = false};
  if (unequal) options.site = [](std::int64_t j) { return LineSite{1.0 + 0.1 * static_cast<double>(j % 7), 1.0}; };
  std::vector<std::unique_ptr<Environment>> line;
  line.push_back(std::make_unique<Line>("line", Attachment({{0, 1.0}}, 1), LineConstants{},
                                        sites * bench_world().size(), bench_world(), options));
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(line), bench_world());
  problem.prepare();
  return problem;
}

Scheme gamma_scheme(double gamma) {
  Section options;
  options.set("gamma", gamma, {});
  return find_method("gamma")->scheme(options);
}

CollocationScheme gauss_scheme(int stages) {
  Section options;
  options.set("stages", std::int64_t{stages}, {});
  return std::get<CollocationScheme>(find_method("gauss")->scheme(options));
}

/// `steps` steps on `sites` sites of every rank.
void advance_line(benchmark::State& state, const Scheme& scheme, std::int64_t sites, int steps, bool unequal = false) {
  Problem problem = oscillator_on_a_line(sites, unequal);
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, 0.5);
  time_together(state, sites * bench_world().size() * steps, [&] { stepper->advance(steps); });
}

/// One step a sweep, and beside it, by turns and on the same memory, what bounds it: how fast memory is depends on
/// where it lies and on the moment. The counter `of_two_arrays` is the part of that bound which is reached.
void explicit_fused(benchmark::State& state) {
  const std::int64_t sites = memory_resident_sites();
  Problem problem = oscillator_on_a_line(sites, false);
  const std::unique_ptr<Stepper> stepper = make_stepper(gamma_scheme(0.0), problem, 0.5);
  const auto writable = [](std::span<const double> field) {
    return std::span(const_cast<double*>(field.data()), field.size());  // what motion follows from it is of no interest
  };
  const Environment& line = *problem.environments().front();
  const std::span<double> w = writable(line.displacement(0)), p = writable(line.momentum(0));
  double bound = 0.0, reached = 0.0;
  stepper->advance(1);
  for ([[maybe_unused]] auto _ : state) {
    bound += seconds_of([&] { stream(w, p); });
    const double seconds = seconds_of([&] { stepper->advance(1); });
    reached += seconds;
    state.SetIterationTime(seconds);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * sites * bench_world().size());
  state.counters["of_two_arrays"] = bound / reached;
}

void explicit_blocked(benchmark::State& state) { advance_line(state, gamma_scheme(0.0), memory_resident_sites(), 64); }

/// With energies every 64 steps, and by turns the same steps without them: the counter `of_blocked` is the part of the
/// rate that energies leave, by the best of each.
void explicit_energies(benchmark::State& state) {
  constexpr int steps = 64;
  Problem problem = oscillator_on_a_line(memory_resident_sites(), false);
  const std::unique_ptr<Stepper> stepper = make_stepper(gamma_scheme(0.0), problem, 0.5);
  const auto without = [&] { stepper->advance(steps); };
  const auto with = [&] {
    stepper->advance(steps);
    benchmark::DoNotOptimize(problem.energies());
  };
  double best_without = std::numeric_limits<double>::infinity(), best_with = best_without;
  for ([[maybe_unused]] auto _ : state) {
    with();  // where energies were asked for, the next steps add them up on their way
    const double seconds = seconds_of(with);
    state.SetIterationTime(seconds);
    best_with = std::min(best_with, seconds);
    without();
    best_without = std::min(best_without, seconds_of(without));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * problem.environments().front()->sites() *
                          steps);
  state.counters["of_blocked"] = best_without / best_with;
}
void explicit_nonuniform(benchmark::State& state) {
  advance_line(state, gamma_scheme(0.0), memory_resident_sites(), 64, true);
}
void explicit_nonuniform_fused(benchmark::State& state) {
  advance_line(state, gamma_scheme(0.0), memory_resident_sites(), 1, true);
}
void midpoint(benchmark::State& state) { advance_line(state, gamma_scheme(0.5), memory_resident_sites(), 64); }

template <int stages>
void gauss(benchmark::State& state) {
  advance_line(state, gauss_scheme(stages), memory_resident_sites(), 64);
}

/// Step by step, which other methods with several stages need.
template <int stages>
void gauss_single_steps(benchmark::State& state) {
  constexpr int steps = 4;
  const std::int64_t sites = memory_resident_sites() * bench_world().size();
  Line line("line", Attachment({{0, 1.0}}, 1), LineConstants{}, sites, bench_world(), {.skip_resting = false});
  line.prepare({});
  line.set_up_stages(gauss_scheme(stages), 0.5);
  const double head[] = {0.0};
  const Eigen::MatrixXd velocities = Eigen::MatrixXd::Ones(stages, 1);
  time_together(state, sites * steps, [&] {
    for (int step = 0; step < steps; ++step) {
      line.eliminate_stages(head);
      line.complete_stages(velocities);
    }
  });
}

/// What no line can exceed: one tile whose sites stay in cache.
void explicit_blocked_in_cache(benchmark::State& state) {
  constexpr int blocks = 400, steps = 64;
  const LineSweeps sweeps(splitting({{Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 1.0}}), 0.5, steps);
  LineTile tile(true);
  std::vector<double> w(LineTile::capacity, 1e-3), p(LineTile::capacity, 1e-3);
  time_together(state, LineTile::capacity * bench_world().size() * blocks * steps, [&] {
    for (int block = 0; block < blocks; ++block) {
      tile.advance({.w = w.data(), .p = p.data(), .springs = {}, .count = LineTile::capacity}, sweeps.levels(),
                   {.offset = 0, .count = LineTile::capacity, .w = w.data(), .p = p.data()});
    }
  });
}

/// The same for implicit steps.
void midpoint_in_cache(benchmark::State& state) {
  constexpr int blocks = 400, steps = 64;
  const ImplicitRecursion recursion(LineConstants{}, {0.5, 0.5, 0.5, 0.5}, 0.5);
  const std::int64_t sites = LineImplicitTile::capacity_for(recursion, 0);
  LineImplicitTile tile(recursion, sites);
  const std::vector<double> start(static_cast<std::size_t>(sites), 1e-3);
  tile.load(start.data(), start.data(), sites);
  time_together(state, sites * bench_world().size() * blocks * steps, [&] {
    for (int block = 0; block < blocks; ++block) tile.advance(steps, {});
  });
}

BENCHMARK(explicit_fused)->Name("line/explicit/fused")->Iterations(10)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(explicit_blocked)
    ->Name("line/explicit/blocked")
    ->Iterations(iterations_of(64))
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(explicit_blocked_in_cache)
    ->Name("line/explicit/blocked_in_cache")
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(explicit_energies)
    ->Name("line/explicit/blocked_with_energies")
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(explicit_nonuniform_fused)
    ->Name("line/explicit/nonuniform_fused")
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(explicit_nonuniform)
    ->Name("line/explicit/nonuniform")
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(midpoint)
    ->Name("line/midpoint/ours")
    ->Iterations(iterations_of(64))
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(gauss<2>)->Name("line/gauss2/ours")->Iterations(3)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(gauss<3>)->Name("line/gauss3/ours")->Iterations(3)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(gauss<4>)->Name("line/gauss4/ours")->Iterations(3)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(gauss_single_steps<2>)
    ->Name("line/gauss2/single_steps")
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(gauss_single_steps<3>)
    ->Name("line/gauss3/single_steps")
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(gauss_single_steps<4>)
    ->Name("line/gauss4/single_steps")
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(midpoint_in_cache)
    ->Name("line/midpoint/ours_in_cache")
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bathline
