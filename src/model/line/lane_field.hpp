// Numbers of consecutive sites cut into parts, one for every lane of `streams` registers side by side.
// Tested by tests/model/line/implicit/one_stage_tile_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "simd/simd_double.hpp"

namespace bathline {

/// Register j holds the j-th site of every part.
template <int streams>
struct LaneRegister {
  SimdDouble at[streams];
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
  /// A part has at least `least` sites.
  LaneParts(std::int64_t sites, std::int64_t least)
      : count(sites), part(std::max(least, (sites + parts - 1) / parts)) {}

  /// Sites that fill whole squares of lanes, `least` or a few more.
  static std::int64_t capacity(std::int64_t least) {
    constexpr std::int64_t unit = parts * simd_width;
    return (least + unit - 1) / unit * unit;
  }

  /// `to` has room for `part` registers, as has `from` below.
  void pack(const double* from, Register* to) const {
    for (int stream = 0; stream < streams; ++stream) {
      const std::int64_t begin = stream * simd_width * part;
      std::int64_t j = 0;
      for (; j + simd_width <= part && begin + (simd_width - 1) * part + j + simd_width <= count; j += simd_width) {
        SimdDouble square[simd_width];
        for (int lane = 0; lane < simd_width; ++lane) square[lane] = load(from + begin + lane * part + j);
        transpose(square);
        for (int i = 0; i < simd_width; ++i) to[j + i].at[stream] = square[i];
      }
      // Room that is left over goes on like the last site, so that no spring there is stretched.
      for (; j < part; ++j) {
        SimdDouble& row = to[j].at[stream];
        for (int lane = 0; lane < simd_width; ++lane) row[lane] = from[std::min(begin + lane * part + j, count - 1)];
      }
    }
  }

  /// Writes `number` sites from `offset` on.
  void unpack(const Register* from, std::int64_t offset, std::int64_t number, double* to) const {
    const std::int64_t end = offset + number;
    for (int stream = 0; stream < streams; ++stream) {
      const std::int64_t begin = stream * simd_width * part;
      std::int64_t j = 0;
      for (; j + simd_width <= part; j += simd_width) {
        SimdDouble square[simd_width];
        for (int i = 0; i < simd_width; ++i) square[i] = from[j + i].at[stream];
        transpose(square);
        const bool all_wanted = begin + j >= offset && begin + (simd_width - 1) * part + j + simd_width <= end;
        for (int lane = 0; lane < simd_width; ++lane) {
          const std::int64_t site = begin + lane * part + j;
          if (all_wanted || (site >= offset && site + simd_width <= end)) {
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
          if (site >= offset && site < end) to[site - offset] = from[j].at[stream][lane];
        }
      }
    }
  }
};

/// Every part takes the value of the part that a sweep comes from; none comes before the first.
template <bool forward, int streams>
[[gnu::always_inline]] inline LaneRegister<streams> carry_in(const LaneRegister<streams>& x) {
  LaneRegister<streams> result;
  for (int s = 0; s < streams; ++s) {
    if constexpr (forward) {
      const SimdDouble before = s > 0 ? x.at[s - 1] : SimdDouble{};
      result.at[s] =
          lane_order::shuffle(before, x.at[s], [](int i) { return i > 0 ? simd_width + i - 1 : simd_width - 1; });
    } else {
      const SimdDouble behind = s + 1 < streams ? x.at[s + 1] : SimdDouble{};
      result.at[s] = lane_order::shuffle(x.at[s], behind, [](int i) { return i + 1; });
    }
  }
  return result;
}

/// Clears the part where a sweep begins.
template <bool forward, int streams>
inline void clear_first_part(LaneRegister<streams>& x) {
  if constexpr (forward) {
    x.at[0][0] = 0.0;
  } else {
    x.at[streams - 1][simd_width - 1] = 0.0;
  }
}

/// Fetches one of `shares` equal shares of arrays into the first-level cache. The compiler would leave out the call of
/// a function that does nothing else.
[[gnu::always_inline]] inline void fetch_share(std::span<const std::span<const double>> arrays, std::size_t share,
                                               std::size_t shares) {
  constexpr std::size_t cache_line = 8;  // numbers
  for (const std::span<const double> array : arrays) {
    const std::size_t end = array.size() * (share + 1) / shares;
    for (std::size_t i = array.size() * share / shares; i < end; i += cache_line) {
      __builtin_prefetch(array.data() + i);
    }
  }
}

}  // namespace bathline
