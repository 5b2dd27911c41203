// A piece of a uniform line that meets neither its head nor its far end, taken through steps with several stages in
// cache.
//
//   z_i = (1 - S)/(1 - r_i S) y_i,   y_i = (1 - S^-1)/(1 - r_i S^-1) (w + lead_i p)
//   w += drift p - sum_i Re(slip_i z_i),   p -= sum_i Re(kick_i z_i)
//
// One sweep a step, as in one_stage_tile.hpp, with all eigenvalues at once.
// Source: the recursions, see recursion.hpp. The number of lanes changes results by round-off.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/line/lane_field.hpp"
#include "model/line/implicit/recursion.hpp"

namespace bathline {

class LineStageTile {
 public:
  /// Loading, storing and the first half of the first step take about as long as so many steps.
  static constexpr double overhead = 2.0;
  /// Whether there are sweeps for as many eigenvalues: those of Gauss with up to four stages.
  static bool serves(const LineRecursion& recursion);
  /// Sites that a tile of those steps holds at most when `reach` of them are lost at either end.
  static std::int64_t capacity_for(const LineRecursion& recursion, std::int64_t reach);

  LineStageTile(const LineRecursion& recursion, std::int64_t capacity);

  /// Beyond the first and the last site nothing pulls, which is wrong: it is up to the caller to load as many sites
  /// beyond those wanted as the steps reach.
  void load(const double* w, const double* p, std::int64_t count);
  /// On the way `ahead`, which the next tile will need, is fetched towards the cache.
  void advance(int steps, std::span<const std::span<const double>> ahead);
  /// Writes `count` sites from `offset` on.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const;

 private:
  static constexpr int streams = 2;
  using Parts = LaneParts<streams>;
  using Register = LaneRegister<streams>;
  using Field = LaneField<streams>;

  /// What a sweep does: the second recursions of a step and its end, the first recursions of the next one.
  enum class Sweep { first, middle, last };
  enum class Way { forward, back };
  enum class Site { first, later };  // of a part
  template <int pairs, int singles, Way sense, Sweep kind>
  void sweep();
  template <int pairs, int singles>
  void sweep(int index, int steps);

  LineRecursion recursion_;
  std::int64_t decay_length_;
  Parts parts_;
  Field w_, p_;
  std::vector<Field> y_;  // real and imaginary part of every pair, then the real ones
};

}  // namespace bathline
