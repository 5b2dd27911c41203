// Batches of counter-based normal random numbers.
#pragma once

#include <cstdint>
#include <span>

#include "random/counter_rng.hpp"

namespace bathline {

/// Fills `numbers` with the independent standard normal numbers `first`, `first` + 1, ... of a key: the same on any
/// number of ranks, on any processor, and however they are cut into spans. Numbers 2 i and 2 i + 1 are those of
/// normal_pair(key, i) but for some units in the last place, at a quarter of its cost: the logarithm and the circular
/// functions are polynomials here, which the compiler computes for several numbers at once.
/// Source: salmon2011, Philox4x32-10, and the Box-Muller transform.
void fill_normals(const RngKey& key, std::uint64_t first, std::span<double> numbers);

}  // namespace bathline
