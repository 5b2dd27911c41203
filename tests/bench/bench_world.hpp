// What all benchmarks share: the ranks, the size of a memory-resident line, and timing by the slowest rank.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>

#include "parallel/communicator.hpp"

namespace bathline {

/// All ranks of the benchmark program.
const Communicator& bench_world();

/// Sites per rank of a line that fits no cache: 32 million, or BATHLINE_BENCH_SITES.
std::int64_t memory_resident_sites();

/// Iterations of a benchmark with `steps` steps: on short lines so many that the clock can tell their time.
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
void time_together(benchmark::State& state, std::int64_t items, Work&& work) {
  work();  // pages in, solvers set up
  for ([[maybe_unused]] auto _ : state) state.SetIterationTime(seconds_of(work));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * items);
}

/// Reads and writes two arrays in place: what one sweep over a line cannot exceed.
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
