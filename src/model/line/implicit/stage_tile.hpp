// An interior piece of a uniform line, advanced in cache by steps with several stages.
//
//   z_i = (1 - S)/(1 - r_i S) y_i,   y_i = (1 - S^-1)/(1 - r_i S^-1) (w + l_i p)
//   w += drift p - sum_i Re(k_w,i z_i),   p -= sum_i Re(k_p,i z_i)
//
// One sweep a step, as in one_stage_tile.hpp, with all eigenvalues together. The number of lanes changes results by
// round-off.
// Source: the recursions in recursion.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/line/implicit/tile.hpp"

namespace bathline {

class LineStageTile : public LineTile<2> {
 public:
  /// Cost of loading, storing and the first half of the first step, in steps.
  static constexpr double overhead = 2.0;
  /// Whether sweeps exist for these numbers of eigenvalues: those of Gauss with up to four stages.
  static bool supports(const LineRecursion& recursion);
  /// Maximum number of sites of a tile if `reach` of them become invalid at either end.
  static std::int64_t capacity_for(const LineRecursion& recursion, std::int64_t reach);

  LineStageTile(const LineRecursion& recursion, std::int64_t capacity);

  /// Prefetches `ahead`, the sites of the next tile.
  void advance(int steps, std::span<const std::span<const double>> ahead);

 private:
  template <int pairs, int singles, Direction direction, Sweep kind>
  void sweep();

  LineRecursion recursion_;
  std::vector<Field> y_;  // real and imaginary part of every pair, then the real ones
};

}  // namespace bathline
