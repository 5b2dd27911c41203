// Normal numbers, many at once alternating with pair by pair: items are numbers, and the counter `of_pairs` is the
// ratio of rates.
#include <vector>

#include "bench_world.hpp"
#include "random/normal_batch.hpp"
#include "random/counter_rng.hpp"

namespace bathline::numbers_bench {
namespace {

void normal_numbers(benchmark::State& state) {
  std::vector<double> numbers(512);  // as many as noise draws at once
  constexpr int spans = 2000;
  const auto count = static_cast<std::int64_t>(spans * numbers.size());
  const RngKey key{7, 1, 3};
  time_alternating(
      state, count,
      [&] {
        for (int i = 0; i < spans; ++i) {
          fill_normals(key, static_cast<std::uint64_t>(i) * numbers.size(), numbers);
          benchmark::DoNotOptimize(numbers.data());
          benchmark::ClobberMemory();
        }
      },
      "of_pairs",
      [&] {
        for (std::int64_t i = 0; i < count / 2; ++i) {
          benchmark::DoNotOptimize(normal_pair(key, static_cast<std::uint64_t>(i)));
        }
      });
}
BENCHMARK(normal_numbers)->Name("numbers/normal")->Iterations(20)->UseManualTime();

}  // namespace
}  // namespace bathline::numbers_bench
