// Random numbers that depend on what they are for, not on who draws them.
#pragma once

#include <cstdint>
#include <utility>

namespace bathline {

/// Which draw of a run: the recipe's seed, the realisation of an ensemble and what the numbers are for.
struct RngKey {
  std::uint64_t seed = 0;
  std::uint32_t realisation = 0;
  std::uint32_t stream = 0;
};

/// Two independent numbers, uniform in (0, 1], for element `index`: the same on any number of ranks.
/// Source: salmon2011, Philox4x32-10.
std::pair<double, double> uniform_pair(const RngKey& key, std::uint64_t index);

/// Two independent standard normal numbers for element `index`: the same on any number of ranks.
/// Source: those above and the transformation of Box and Muller.
std::pair<double, double> normal_pair(const RngKey& key, std::uint64_t index);

}  // namespace bathline
