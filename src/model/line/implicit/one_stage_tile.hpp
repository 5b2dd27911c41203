// A piece of a uniform line that meets neither its head nor its far end, taken through implicit one-stage steps in
// cache.
//
// Of a scheme with one eigenvalue both recursions act on one combination v = w + lead p of displacement and momentum,
//
//   z = (1 - S)/(1 - r S) y,   y = (1 - S^-1)/(1 - r S^-1) v,   p -= kick z,   v += drift p - late_displacement_weight
//   z,
//
// late_displacement_weight = slip - (drift - lead) kick, which is zero where the scheme is symplectic.
//
// One sweep a step: it ends one step and begins the next, whose two recursions then run the other way round, so that
// the sweep that ends it can begin the one after it. Only differences of v matter on the way, and these are in y,
//
//   (1 - S^-1) v = (1 - r S^-1) y,
//
// so two numbers a site are kept instead of three, y in units of the drift. Of v itself one site of every part is kept,
// from which the last sweep adds up the others. The recursions are cut into parts, one for every lane of every
// register: what a part inherits from the one before it has faded but for its last few sites.
// Source: the two recursions, see recursion.hpp. The number of lanes changes results by round-off.
#pragma once

#include <cstdint>
#include <span>

#include "model/line/lane_field.hpp"
#include "model/line/implicit/recursion.hpp"

namespace bathline {

class LineOneStageTile {
 public:
  static bool serves(const LineRecursion& recursion) {
    return recursion.pairs.empty() && recursion.singles.size() == 1;
  }
  /// Loading, storing and the first half of the first step take about as long as so many steps.
  static constexpr double overhead = 6.0;
  /// Sites that a tile of those steps holds at most when `reach` of them are lost at either end.
  static std::int64_t capacity_for(const LineRecursion& recursion, std::int64_t reach);

  LineOneStageTile(const LineRecursion& recursion, std::int64_t capacity);

  /// Beyond the first and the last site nothing pulls, which is wrong: it is up to the caller to load as many sites
  /// beyond those wanted as the steps reach.
  void load(const double* w, const double* p, std::int64_t count);
  /// On the way `ahead`, which the next tile will need, is fetched towards the cache.
  void advance(int steps, std::span<const std::span<const double>> ahead);
  /// Writes `count` sites from `offset` on.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const;

 private:
  /// Registers side by side, for the processor has to wait for each of them.
  static constexpr int streams = 3;
  using Parts = LaneParts<streams>;
  using Register = LaneRegister<streams>;
  using Field = LaneField<streams>;

  /// What a sweep does: the second recursion of a step and its end, the first recursion of the next one.
  enum class Sweep { first, middle, last };
  enum class Way { forward, back };
  enum class Site { first, later };  // of a part
  template <bool has_displacement_weight>
  void sweep(int index, int steps);
  /// The last one runs the same way as this one, or not.
  template <Way sense, bool has_displacement_weight, Sweep kind>
  void sweep(bool as_the_last);

  double pole_;                      // r
  double input_momentum_weight_;     // v = w + lead p
  double momentum_weight_;           // p+ = p - kick z
  double late_displacement_weight_;  // v+ = v + drift p+ - late_displacement_weight z
  double drift_;
  std::int64_t decay_length_;
  std::vector<double> powers_;  // r^k
  Parts parts_;
  Field y_, p_;  // y_ is w before the first sweep and after the last
  // What a sweep leaves to the next one: z and y of the sites before every part.
  Register entering_z_, entering_y_;
  Register reference_value_;  // v of the site of every part where the last sweep begins
};

}  // namespace bathline
