// How far implicit steps reach along a uniform line, and the most efficient number of steps of a block.
// Tested by tests/model/line/implicit/block_stepper_test.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/line/implicit/recursion.hpp"

namespace bathline {

/// Steps of a block, and the number of sites on either side that influence a site within it.
struct ImplicitReach {
  int steps = 0;  ///< 0: no block is possible
  std::int64_t sites = 0;
};

/// The response of an unbounded line to a disturbance of one site, up to `half` sites to either side.
class LineResponse {
 public:
  LineResponse(const LineRecursion& recursion, std::int64_t half, double w, double p)
      : recursion_(recursion),
        half_(half),
        spread_per_step_(recursion.decay_length() < half ? 2 * recursion.decay_length() : half),
        w_(static_cast<std::size_t>(2 * half + 1)),
        p_(w_.size()) {
    w_[static_cast<std::size_t>(half)] = w;
    p_[static_cast<std::size_t>(half)] = p;
  }

  void step() {
    // Beyond twice the decay length of a step even the square of the negligible influence is not reached.
    disturbed_ = std::min(half_, disturbed_ + spread_per_step_);
    const auto first = static_cast<std::size_t>(half_ - disturbed_);
    const auto count = static_cast<std::size_t>(2 * disturbed_ + 1);
    recursion_.step(std::span(w_).subspan(first, count), std::span(p_).subspan(first, count));
    for (; disturbed_ > 0 && at_distance(disturbed_) <= negligible_influence * negligible_influence; --disturbed_) {
      for (const std::int64_t j : {half_ - disturbed_, half_ + disturbed_}) {
        w_[static_cast<std::size_t>(j)] = p_[static_cast<std::size_t>(j)] = 0.0;
      }
    }
  }

  /// The smallest distance beyond which the sum over all sites on both sides is negligible.
  std::int64_t reach() const {
    double sum = 0.0;
    for (std::int64_t distance = disturbed_; distance > 0; --distance) {
      sum += at_distance(distance);
      // NaN is not negligible.
      if (!(sum <= negligible_influence)) return distance + 1;
    }
    return 1;
  }

 private:
  /// Size of the disturbance of the two sites at that distance.
  double at_distance(std::int64_t distance) const {
    double sum = 0.0;
    for (const std::int64_t j : {half_ - distance, half_ + distance}) {
      sum +=
          std::abs(w_[static_cast<std::size_t>(j)]) + std::abs(p_[static_cast<std::size_t>(j)]) / recursion_.impedance;
    }
    return sum;
  }

  LineRecursion recursion_;
  std::int64_t half_;
  std::int64_t spread_per_step_;  // sites by which a step extends the disturbance
  std::int64_t disturbed_ = 0;    // sites to either side; zeros beyond
  std::vector<double> w_, p_;
};

/// The block with the least work per step among those that reach no further than `limit` sites. The reach follows from
/// the response of an unbounded line to a unit disturbance of one site: the sum over all sites beyond it is negligible.
/// Tiles of type `Tile` advance most of a line of `sites_of_line` sites, a segment those near the head.
template <class Tile>
ImplicitReach cheapest_reach(const LineRecursion& recursion, std::int64_t limit,
                             std::int64_t sites_of_line = std::numeric_limits<std::int64_t>::max()) {
  // Cost of a site that is eliminated in lockstep with the head, in sites of a tile.
  constexpr double cost_near_head = 20.0;
  ImplicitReach best;
  if (recursion.decay_length() > limit) return best;
  LineResponse displaced(recursion, 2 * limit, 1.0, 0.0), kicked(recursion, 2 * limit, 0.0, recursion.impedance);
  double min_cost = std::numeric_limits<double>::infinity();
  for (int steps = 1; steps <= 64; ++steps) {
    displaced.step();
    kicked.step();
    if (steps < 4 || (steps & (steps - 1)) != 0) continue;
    const std::int64_t sites = std::max({displaced.reach(), kicked.reach(), recursion.decay_length()});
    if (sites > limit) break;
    const auto tile = static_cast<double>(Tile::capacity_for(recursion, sites));
    const auto near_head = 2.0 * static_cast<double>(sites);
    const double cost = (1.0 + Tile::overhead / steps) * tile / (tile - near_head) +
                        cost_near_head * near_head / static_cast<double>(sites_of_line);
    if (cost >= min_cost) continue;
    min_cost = cost;
    best = {steps, sites};
  }
  return best;
}

}  // namespace bathline
