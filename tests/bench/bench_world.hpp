// What all benchmarks share: the ranks, the size of a memory-resident line, and timing by the slowest rank.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>

#include "parallel/communicator.hpp"

namespace bathline {

/// All ranks of the benchmark program.
const Communicator& bench_world();

/// Sites per rank of a line that fits no cache: 32 million, or BATHLINE_BENCH_SITES.
std::int64_t memory_resident_sites();

/// Iterations of a benchmark with `steps` steps: on short lines enough to be measured by the clock.
inline std::int64_t iterations_of(int steps) {
  return std::clamp<std::int64_t>(1'000'000'000 / (memory_resident_sites() * steps), 3, 2000);
}

/// Seconds from when all ranks are ready for `work` to when all are done. @note Collective.
template <class Work>
double seconds_of(Work&& work) {
  using Clock = std::chrono::steady_clock;
  bench_world().barrier();
  const auto start = Clock::now();
  work();
  bench_world().barrier();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Times `work`, and counts `items` of all ranks together each time. Every rank runs the same number of iterations,
/// which therefore has to be fixed. @note Collective.
template <class Work>
void time_on_all_ranks(benchmark::State& state, std::int64_t items, Work&& work) {
  work();  // pages in, solvers set up
  for ([[maybe_unused]] auto _ : state) state.SetIterationTime(seconds_of(work));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * items);
}

/// Times `work` like `time_on_all_ranks`, alternating with `reference`, which does as many items, since the speed of
/// the machine varies. The counter `of_reference` is the ratio of their rates, by the best time of each. Each timed
/// call follows an untimed one. @note Collective.
template <class Work, class Reference>
void time_alternating(benchmark::State& state, std::int64_t items, Work&& work, const char* of_reference,
                      Reference&& reference) {
  double best = std::numeric_limits<double>::infinity(), best_reference = best;
  for ([[maybe_unused]] auto _ : state) {
    reference();
    best_reference = std::min(best_reference, seconds_of(reference));
    work();
    const double seconds = seconds_of(work);
    best = std::min(best, seconds);
    state.SetIterationTime(seconds);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * items);
  state.counters[of_reference] = best_reference / best;
}

/// Reads and writes two arrays in place: the upper bound for one sweep over a line.
inline void stream(std::span<double> a, std::span<double> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] += 1e-9 * b[i];
    b[i] -= 1e-9 * a[i];
  }
  benchmark::DoNotOptimize(a.data());
  benchmark::DoNotOptimize(b.data());
  benchmark::ClobberMemory();
}

}  // namespace bathline
