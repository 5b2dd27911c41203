// The bandwidth of reading and writing two arrays in place, which bounds one sweep over a line.
#include <vector>

#include "bench_world.hpp"

namespace bathline::stream_bench {
namespace {

void two_arrays(benchmark::State& state) {
  const std::int64_t sites = memory_resident_sites();
  std::vector<double> a(static_cast<std::size_t>(sites), 1.0), b(static_cast<std::size_t>(sites), 2.0);
  time_on_all_ranks(state, sites * bench_world().size(), [&] { stream(a, b); });
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * sites * bench_world().size() * 32);
}

BENCHMARK(two_arrays)->Name("stream/two_arrays")->Iterations(10)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bathline::stream_bench
