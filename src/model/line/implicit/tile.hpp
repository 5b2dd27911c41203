// What the tiles of implicit steps have in common: their sites in lanes, and one sweep a step, which ends it by its
// second recursion and begins the next one by its first. As these run in opposite directions, sweeps alternate.
// Tested by tests/model/line/implicit/one_stage_tile_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "model/line/lane_field.hpp"
#include "model/line/implicit/recursion.hpp"

namespace bathline {

/// `number` independent registers hide the latency of the recursions.
template <int number>
class LineTile {
 public:
  /// There are no springs beyond the first and the last site: the caller has to load as many additional sites on either
  /// side as the steps reach.
  void load(const double* w, const double* p, std::int64_t count) {
    parts_ = Parts(count, decay_length_);
    parts_.pack(w, w_.data());
    parts_.pack(p, p_.data());
  }
  /// Writes `count` sites, beginning with site `offset`.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
    parts_.unpack(w_.data(), offset, count, w);
    parts_.unpack(p_.data(), offset, count, p);
  }

 protected:
  static constexpr int streams = number;
  using Parts = LaneParts<streams>;
  using Register = LaneRegister<streams>;
  using Field = LaneField<streams>;
  enum class Sweep { first, middle, last };
  enum class Direction { forward, backward };
  enum class Site { first, later };  // of a part

  /// The capacity of a tile of which `cached` sites fit into the cache and `reach` become invalid at either end.
  static std::int64_t capacity_for(const LineRecursion& recursion, std::int64_t reach, std::int64_t cached) {
    return Parts::capacity(std::max({cached, 4 * reach, Parts::parts * recursion.decay_length()}));
  }
  LineTile(const LineRecursion& recursion, std::int64_t capacity)
      : decay_length_(recursion.decay_length()), w_(static_cast<std::size_t>(capacity / Parts::parts)), p_(w_.size()) {}

  /// Calls sweep<direction, kind>(index) for the sweeps of `steps` steps, and prefetches `ahead`, the sites of the next
  /// tile.
  template <class Use>
  void for_each_sweep(int steps, std::span<const std::span<const double>> ahead, const Use& sweep) {
    for (int index = 0; index <= steps; ++index) {
      const bool forward = index % 2 == 0;
      if (index == 0) {
        sweep.template operator()<Direction::forward, Sweep::first>(index);
      } else if (index == steps) {
        forward ? sweep.template operator()<Direction::forward, Sweep::last>(index)
                : sweep.template operator()<Direction::backward, Sweep::last>(index);
      } else {
        forward ? sweep.template operator()<Direction::forward, Sweep::middle>(index)
                : sweep.template operator()<Direction::backward, Sweep::middle>(index);
      }
      prefetch_part(ahead, static_cast<std::size_t>(index), static_cast<std::size_t>(steps) + 1);
    }
  }

  std::int64_t decay_length_;
  Parts parts_;
  Field w_, p_;
};

}  // namespace bathline
