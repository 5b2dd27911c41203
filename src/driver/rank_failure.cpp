// Failures of some ranks, which work on problems of their own.
// Tested by tests/study/ensemble_test.cpp.
#include "driver/rank_failure.hpp"

#include <span>
#include <string>

namespace bathline {

std::optional<Failure> any_rank_failure(const Communicator& world, const std::optional<Failure>& failure) {
  const double highest = world.max(failure ? world.rank() : -1.0);
  if (highest < 0.0) return std::nullopt;
  const int from = static_cast<int>(highest);
  std::int64_t step[] = {failure ? failure->step : 0};
  double residual[] = {failure ? failure->residual : 0.0};
  world.broadcast(std::span<std::int64_t>(step), from);
  world.broadcast(std::span<double>(residual), from);
  return Failure{step[0], residual[0], world.broadcast(failure ? failure->reason : std::string(), from)};
}

}  // namespace bathline
