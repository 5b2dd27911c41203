// Values of consecutive sites divided into parts, one for each lane of `streams` registers.
// Tested by tests/model/line/implicit/one_stage_tile_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "simd/simd_double.hpp"

namespace bathline {

/// Element j of a field holds the j-th site of every part.
template <int streams>
struct LaneRegister {
  SimdDouble value[streams];
};

template <int streams>
using LaneField = std::vector<LaneRegister<streams>>;

/// `count` consecutive sites in parts of `part` sites.
template <int streams>
struct LaneParts {
  using Register = LaneRegister<streams>;
  static constexpr std::int64_t parts = streams * simd_width;

  std::int64_t count = 0;
  std::int64_t part = 0;

  LaneParts() = default;
  /// A part has at least `min_part` sites.
  LaneParts(std::int64_t sites, std::int64_t min_part)
      : count(sites), part(std::max(min_part, (sites + parts - 1) / parts)) {}

  /// The smallest number of sites >= `min_sites` that fills whole squares of lanes.
  static std::int64_t capacity(std::int64_t min_sites) {
    constexpr std::int64_t unit = parts * simd_width;
    return (min_sites + unit - 1) / unit * unit;
  }

  /// `to` has room for `part` registers, and so has `from` of `unpack`.
  void pack(const double* from, Register* to) const {
    for (int stream = 0; stream < streams; ++stream) {
      const std::int64_t begin = stream * simd_width * part;
      std::int64_t j = 0;
      for (; j + simd_width <= part && begin + (simd_width - 1) * part + j + simd_width <= count; j += simd_width) {
        SimdDouble square[simd_width];
        for (int lane = 0; lane < simd_width; ++lane) square[lane] = load(from + begin + lane * part + j);
        transpose(square);
        for (int i = 0; i < simd_width; ++i) to[j + i].value[stream] = square[i];
      }
      // Padding repeats the last site, so that no spring there is stretched.
      for (; j < part; ++j) {
        SimdDouble& row = to[j].value[stream];
        for (int lane = 0; lane < simd_width; ++lane) row[lane] = from[std::min(begin + lane * part + j, count - 1)];
      }
    }
  }

  /// Writes `number` sites, beginning with site `offset`.
  void unpack(const Register* from, std::int64_t offset, std::int64_t number, double* to) const {
    const std::int64_t end = offset + number;
    for (int stream = 0; stream < streams; ++stream) {
      const std::int64_t begin = stream * simd_width * part;
      std::int64_t j = 0;
      for (; j + simd_width <= part; j += simd_width) {
        SimdDouble square[simd_width];
        for (int i = 0; i < simd_width; ++i) square[i] = from[j + i].value[stream];
        transpose(square);
        const bool all_requested = begin + j >= offset && begin + (simd_width - 1) * part + j + simd_width <= end;
        for (int lane = 0; lane < simd_width; ++lane) {
          const std::int64_t site = begin + lane * part + j;
          if (all_requested || (site >= offset && site + simd_width <= end)) {
            store(square[lane], to + (site - offset));
          } else {
            for (std::int64_t i = std::max<std::int64_t>(0, offset - site);
                 i < std::min<std::int64_t>(simd_width, end - site); ++i) {
              to[site + i - offset] = square[lane][i];
            }
          }
        }
      }
      for (; j < part; ++j) {
        for (int lane = 0; lane < simd_width; ++lane) {
          const std::int64_t site = begin + lane * part + j;
          if (site >= offset && site < end) to[site - offset] = from[j].value[stream][lane];
        }
      }
    }
  }
};

/// Every part receives the value of the part before it in the direction of the sweep, the first part 0.
template <bool forward, int streams>
[[gnu::always_inline]] inline LaneRegister<streams> carry_in(const LaneRegister<streams>& x) {
  LaneRegister<streams> result;
  for (int s = 0; s < streams; ++s) {
    if constexpr (forward) {
      const SimdDouble before = s > 0 ? x.value[s - 1] : SimdDouble{};
      result.value[s] =
          lane_order::shuffle(before, x.value[s], [](int i) { return i > 0 ? simd_width + i - 1 : simd_width - 1; });
    } else {
      const SimdDouble behind = s + 1 < streams ? x.value[s + 1] : SimdDouble{};
      result.value[s] = lane_order::shuffle(x.value[s], behind, [](int i) { return i + 1; });
    }
  }
  return result;
}

/// Clears the value of the part where a sweep begins.
template <bool forward, int streams>
inline void clear_first_part(LaneRegister<streams>& x) {
  if constexpr (forward) {
    x.value[0][0] = 0.0;
  } else {
    x.value[streams - 1][simd_width - 1] = 0.0;
  }
}

/// Prefetches part `part_index` of `part_count` equal parts of arrays. Inlined, as the compiler would drop the call of
/// a function that does nothing else.
[[gnu::always_inline]] inline void prefetch_part(std::span<const std::span<const double>> arrays,
                                                 std::size_t part_index, std::size_t part_count) {
  constexpr std::size_t cache_line = 8;  // numbers
  for (const std::span<const double> array : arrays) {
    const std::size_t end = array.size() * (part_index + 1) / part_count;
    for (std::size_t i = array.size() * part_index / part_count; i < end; i += cache_line) {
      __builtin_prefetch(array.data() + i);
    }
  }
}

}  // namespace bathline
