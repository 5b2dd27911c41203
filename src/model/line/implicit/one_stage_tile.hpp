// An interior piece of a uniform line, advanced in cache by implicit one-stage steps.
//
// With one eigenvalue both recursions act on one combination v = w + l p of displacement and momentum,
//
//   z = (1 - S)/(1 - r S) y,   y = (1 - S^-1)/(1 - r S^-1) v,   p -= k_p z,   v += drift p - k z,
//
// k = k_w - (drift - l) k_p, which vanishes if the scheme is symplectic.
//
// One sweep a step: it ends one step and begins the next one, whose two recursions then run in the opposite order, so
// that the sweep that ends it can begin the one after it. Only differences of v are needed, and these follow from y,
//
//   (1 - S^-1) v = (1 - r S^-1) y,
//
// so that two values a site are stored instead of three, y in units of the drift. Of v itself one site of every part is
// stored, from which the last sweep sums up the others. The recursions are cut into parts, one for every lane of every
// register: the values carried into a part influence only its last few sites.
// The number of lanes changes results by round-off.
// Source: the two recursions in recursion.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "model/line/implicit/tile.hpp"

namespace bathline {

class LineOneStageTile : public LineTile<3> {
 public:
  static bool supports(const LineRecursion& recursion) {
    return recursion.pairs.empty() && recursion.singles.size() == 1;
  }
  /// Cost of loading, storing and the first half of the first step, in steps.
  static constexpr double overhead = 6.0;
  /// Maximum number of sites of a tile if `reach` of them become invalid at either end.
  static std::int64_t capacity_for(const LineRecursion& recursion, std::int64_t reach);

  LineOneStageTile(const LineRecursion& recursion, std::int64_t capacity);

  /// Prefetches `ahead`, the sites of the next tile.
  void advance(int steps, std::span<const std::span<const double>> ahead);

 private:
  /// `same_direction_as_last`: whether the last sweep has the direction of this one.
  template <Direction direction, bool has_displacement_weight, Sweep kind>
  void sweep(bool same_direction_as_last);

  double pole_;                      // r
  double input_momentum_weight_;     // l
  double momentum_weight_;           // k_p
  double late_displacement_weight_;  // k
  double drift_;
  std::vector<double> powers_;  // r^k
  // Passed from a sweep to the next one: z and y of the sites before every part.
  Register entering_z_, entering_y_;
  Register reference_value_;  // v of the site of every part where the last sweep begins
};

}  // namespace bathline
