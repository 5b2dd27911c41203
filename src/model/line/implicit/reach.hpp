// How far implicit steps reach along a uniform line, and how many of them are best taken together.
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

/// Steps taken together, and how many sites on each side matter to a site for that long.
struct ImplicitReach {
  int steps = 0;  ///< 0: there are no such blocks
  std::int64_t sites = 0;
};

/// An unbounded line after one of its sites has been disturbed, as far as `half` sites to either side.
class LineResponse {
 public:
  LineResponse(const LineRecursion& recursion, std::int64_t half, double w, double p)
      : recursion_(recursion),
        half_(half),
        step_(recursion.decay_length() < half ? 2 * recursion.decay_length() : half),
        w_(static_cast<std::size_t>(2 * half + 1)),
        p_(w_.size()) {
    w_[static_cast<std::size_t>(half)] = w;
    p_[static_cast<std::size_t>(half)] = p;
  }

  void step() {
    // Twice the memory of a step beyond what is disturbed nothing comes to even the square of what is negligible.
    disturbed_ = std::min(half_, disturbed_ + step_);
    const auto first = static_cast<std::size_t>(half_ - disturbed_);
    const auto count = static_cast<std::size_t>(2 * disturbed_ + 1);
    recursion_.step(std::span(w_).subspan(first, count), std::span(p_).subspan(first, count));
    for (; disturbed_ > 0 && at_distance(disturbed_) <= negligible_influence * negligible_influence; --disturbed_) {
      for (const std::int64_t j : {half_ - disturbed_, half_ + disturbed_}) {
        w_[static_cast<std::size_t>(j)] = p_[static_cast<std::size_t>(j)] = 0.0;
      }
    }
  }

  /// The least distance from which on all sites on both sides together are negligible.
  std::int64_t reach() const {
    double sum = 0.0;
    for (std::int64_t distance = disturbed_; distance > 0; --distance) {
      sum += at_distance(distance);
      // What is no number any more is not negligible.
      if (!(sum <= negligible_influence)) return distance + 1;
    }
    return 1;
  }

 private:
  /// How large both sites are that are so far away.
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
  std::int64_t step_;           // how much further a step can disturb anything
  std::int64_t disturbed_ = 0;  // sites to either side; beyond, there are zeros
  std::vector<double> w_, p_;
};

/// The block that does least work per step of all those that reach no further than `limit` sites: from the response of
/// an unbounded line to a unit disturbance of one site, such that all sites beyond the reach together stay negligible.
/// `Tile` takes most of a line of `sites` sites through them, a window those near the head.
template <class Tile>
ImplicitReach cheapest_reach(const LineRecursion& recursion, std::int64_t limit,
                             std::int64_t sites_of_line = std::numeric_limits<std::int64_t>::max()) {
  // A site that is eliminated in lockstep with the head takes about as long as so many in a tile.
  constexpr double cost_near_head = 20.0;
  ImplicitReach best;
  if (recursion.decay_length() > limit) return best;
  LineResponse displaced(recursion, 2 * limit, 1.0, 0.0), kicked(recursion, 2 * limit, 0.0, recursion.impedance);
  double least = std::numeric_limits<double>::infinity();
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
    if (cost >= least) continue;
    least = cost;
    best = {steps, sites};
  }
  return best;
}

}  // namespace bathline
