// What all benchmarks share: the ranks, the size of a memory-resident line, and timing by the slowest rank.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

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

/// Times `work` from when all ranks are ready to when all are done, and counts `items` of all ranks together each time.
/// Every rank runs the same number of iterations, which therefore has to be fixed. @note Collective.
template <class Work>
void time_together(benchmark::State& state, std::int64_t items, Work&& work) {
  using Clock = std::chrono::steady_clock;
  work();  // pages in, solvers set up
  for ([[maybe_unused]] auto _ : state) {
    bench_world().barrier();
    const auto start = Clock::now();
    work();
    bench_world().barrier();
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * items);
}

}  // namespace bathline
