// Explicit and implicit steps of a particle with a long line, by the program's own kernels. Sites that have not moved
// yet are computed as well, except by `cold`.
#include "steppers/stepper.hpp"
#include "bench_world.hpp"
#include "line_systems.hpp"
#include "model/semi_infinite_line/semi_infinite_line.hpp"
#include "model/line/implicit/one_stage_tile.hpp"
#include "model/line/explicit/skewed_tile.hpp"

namespace bathline::line_bench {
namespace {

constexpr int steps_of_a_block = 64;

/// `steps` steps on `sites` sites of every rank.
void advance_line(benchmark::State& state, const Scheme& scheme, std::int64_t sites, int steps, bool unequal = false) {
  Problem problem = oscillator_on_a_line(sites, unequal);
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, 0.5);
  time_on_all_ranks(state, sites * bench_world().size() * steps, [&] { stepper->advance(steps); });
}

/// A line at rest until the front, with a speed of half a site per step, has reached its end: each time from the start,
/// as in a run of the program.
void advance_cold_line(benchmark::State& state, const Scheme& scheme, std::int64_t sites) {
  const std::int64_t steps = 2 * sites;
  time_on_all_ranks(state, sites * bench_world().size() * steps, [&] {
    Problem problem = oscillator_on_a_line(sites, false, true);
    make_stepper(scheme, problem, 0.5)->advance(steps);
  });
}

void cold_explicit(benchmark::State& state) { advance_cold_line(state, gamma_scheme(0.0), state.range(0)); }
void cold_midpoint(benchmark::State& state) { advance_cold_line(state, gamma_scheme(0.5), state.range(0)); }

/// One step a sweep, alternating with its upper bound on the same memory, whose bandwidth depends on its location.
void explicit_fused(benchmark::State& state) {
  const std::int64_t sites = memory_resident_sites();
  Problem problem = oscillator_on_a_line(sites, false);
  const std::unique_ptr<Stepper> stepper = make_stepper(gamma_scheme(0.0), problem, 0.5);
  Environment& line = *problem.environments().front();
  const std::span<double> w = line.field("w", 0).values, p = line.field("p", 0).values;
  time_alternating(
      state, sites * bench_world().size(), [&] { stepper->advance(1); }, "of_two_arrays", [&] { stream(w, p); });
}

void explicit_blocked(benchmark::State& state) {
  advance_line(state, gamma_scheme(0.0), memory_resident_sites(), steps_of_a_block);
}

/// With energies every 64 steps, alternating with the same steps without them.
void explicit_energies(benchmark::State& state) {
  Problem problem = oscillator_on_a_line(memory_resident_sites(), false);
  const std::unique_ptr<Stepper> stepper = make_stepper(gamma_scheme(0.0), problem, 0.5);
  const auto with = [&] {
    stepper->advance(steps_of_a_block, {.wants_energy = true});
    benchmark::DoNotOptimize(problem.energies());
  };
  time_alternating(state, problem.environments().front()->properties().sites * steps_of_a_block, with, "of_blocked",
                   [&] { stepper->advance(steps_of_a_block); });
}

/// Alternating with as many explicit steps.
void midpoint(benchmark::State& state) {
  Problem implicit_problem = oscillator_on_a_line(memory_resident_sites(), false);
  Problem explicit_problem = oscillator_on_a_line(memory_resident_sites(), false);
  const std::unique_ptr<Stepper> implicit_stepper = make_stepper(gamma_scheme(0.5), implicit_problem, 0.5);
  const std::unique_ptr<Stepper> explicit_stepper = make_stepper(gamma_scheme(0.0), explicit_problem, 0.5);
  time_alternating(
      state, implicit_problem.environments().front()->properties().sites * steps_of_a_block,
      [&] { implicit_stepper->advance(steps_of_a_block); }, "of_blocked",
      [&] { explicit_stepper->advance(steps_of_a_block); });
}

void explicit_nonuniform(benchmark::State& state) {
  advance_line(state, gamma_scheme(0.0), memory_resident_sites(), steps_of_a_block, true);
}
void explicit_nonuniform_fused(benchmark::State& state) {
  advance_line(state, gamma_scheme(0.0), memory_resident_sites(), 1, true);
}

/// Implicit steps of nonuniform lines, which are not blocked in time.
template <int stages>
void gauss_nonuniform(benchmark::State& state) {
  advance_line(state, gauss_scheme(stages), memory_resident_sites(), 4, true);
}

template <int stages>
void gauss(benchmark::State& state) {
  advance_line(state, gauss_scheme(stages), memory_resident_sites(), steps_of_a_block);
}

/// Step by step, as other methods with several stages run.
template <int stages>
void gauss_single_steps(benchmark::State& state) {
  constexpr int steps = 4;
  const std::int64_t sites = memory_resident_sites() * bench_world().size();
  Line line("line", Attachment({{0, 1.0}}, 1), LineConstants{}, sites, bench_world(), {.skip_resting = false});
  line.prepare({});
  const auto environment_stepper = line.implicit_stepper(gauss_scheme(stages), 0.5);
  StageResponse response;
  const double head[] = {0.0};
  const Eigen::MatrixXd velocities = Eigen::MatrixXd::Ones(stages, 1);
  time_on_all_ranks(state, sites * steps, [&] {
    for (int step = 0; step < steps; ++step) {
      environment_stepper->condense(head, response);
      environment_stepper->back_substitute(velocities);
    }
  });
}

/// The upper bound for lines: one tile whose sites stay in cache.
void explicit_blocked_in_cache(benchmark::State& state) {
  constexpr int blocks = 400, steps = 64;
  std::vector<LineLevel> levels;
  make_levels(splitting({{Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 1.0}}), 0.5, steps, levels);
  SkewedTile<UniformSites> tile;
  std::vector<double> w(tile_capacity, 1e-3), p(tile_capacity, 1e-3);
  time_on_all_ranks(state, tile_capacity * bench_world().size() * blocks * steps, [&] {
    for (int block = 0; block < blocks; ++block) {
      tile.advance({.w = w.data(), .p = p.data(), .sites = {}, .count = tile_capacity}, levels,
                   {.offset = 0, .count = tile_capacity, .w = w.data(), .p = p.data()});
    }
  });
}

/// Steps of a semi-infinite line, with h sqrt(lambda/M) = 0.126, for a run of 10^9 of them; it has no sites to count.
void infinite(benchmark::State& state, const Scheme& scheme) {
  constexpr double h = 0.126, steps_of_run = 1e9;
  constexpr int steps = 200'000;
  Problem problem = oscillator_on(std::make_unique<SemiInfiniteLine>(
      "line", Attachment({{0, 1.0}}, 1),
      SemiInfiniteLineOptions{.horizon = steps_of_run * h, .step = h, .end = steps_of_run * h}, bench_world()));
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
  time_on_all_ranks(state, steps, [&] { stepper->advance(steps); });
}

/// The upper bound for implicit steps.
void midpoint_in_cache(benchmark::State& state) {
  constexpr int blocks = 400, steps = 64;
  const LineRecursion recursion = LineRecursion::of(LineConstants{}, one_stage(0.5, 0.5), 0.5).value();
  const std::int64_t sites = LineOneStageTile::capacity_for(recursion, 0);
  LineOneStageTile tile(recursion, sites);
  const std::vector<double> start(static_cast<std::size_t>(sites), 1e-3);
  tile.load(start.data(), start.data(), sites);
  time_on_all_ranks(state, sites * bench_world().size() * blocks * steps, [&] {
    for (int block = 0; block < blocks; ++block) tile.advance(steps, {});
  });
}

BENCHMARK(explicit_fused)->Name("line/explicit/fused")->Iterations(10)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(explicit_blocked)
    ->Name("line/explicit/blocked")
    ->Iterations(iterations_of(steps_of_a_block))
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(infinite, kicks, gamma_scheme(0.0))
    ->Name("line/infinite")
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(infinite, midpoint, gamma_scheme(0.5))
    ->Name("line/infinite/midpoint")
    ->Iterations(5)
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
BENCHMARK(cold_explicit)
    ->Name("line/explicit/cold")
    ->Arg(5'000)
    ->Arg(20'000)
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(cold_midpoint)
    ->Name("line/midpoint/cold")
    ->Arg(5'000)
    ->Arg(20'000)
    ->Iterations(3)
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
    ->Iterations(iterations_of(steps_of_a_block))
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(gauss_nonuniform<1>)
    ->Name("line/midpoint/nonuniform")
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(gauss_nonuniform<2>)
    ->Name("line/gauss2/nonuniform")
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(gauss_nonuniform<3>)
    ->Name("line/gauss3/nonuniform")
    ->Iterations(5)
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
}  // namespace bathline::line_bench
