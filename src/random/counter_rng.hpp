// Counter-based random numbers: functions of a key and an index, whatever the order and the rank of the draws.
#pragma once

#include <cstdint>
#include <utility>

namespace bathline {

/// The key of a stream: the recipe's seed, the realisation of an ensemble, and the purpose of the numbers (`stream`).
struct RngKey {
  std::uint64_t seed = 0;
  std::uint32_t realisation = 0;
  std::uint32_t stream = 0;
};

/// Two independent numbers, uniform in (0, 1], for element `index`: the same on any number of ranks.
/// Source: salmon2011, Philox4x32-10.
std::pair<double, double> uniform_pair(const RngKey& key, std::uint64_t index);

/// Two independent standard normal numbers for element `index`: the same on any number of ranks.
/// Source: salmon2011 and the Box-Muller transform.
std::pair<double, double> normal_pair(const RngKey& key, std::uint64_t index);

}  // namespace bathline
