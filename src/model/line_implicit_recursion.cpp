// The numbers of an implicit step inside a uniform line, and how far such steps reach.
#include "model/line_implicit_recursion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/line_implicit_tile.hpp"

namespace bathline {

ImplicitRecursion::ImplicitRecursion(const LineConstants& line, const OneStageScheme& scheme, double h) {
  const double c = scheme.a * scheme.b * h * h * line.stiffness / line.mass;
  // r/c, which stays accurate for small steps.
  const double ratio = 2.0 / (1.0 + 2.0 * c + std::sqrt(1.0 + 4.0 * c));
  const double change = ratio * scheme.a * h * line.stiffness;  // -D/z
  const double growth = 1.0 + scheme.a_end / scheme.a;
  double slipping = scheme.b + scheme.b_end - scheme.b_end * growth;
  if (std::abs(slipping) <= 4.0 * std::numeric_limits<double>::epsilon()) slipping = 0.0;
  decay = c * ratio;
  to_stage = scheme.b * h / line.mass;
  kick = growth * change;
  slip = slipping * h / line.mass * change;
  drift = (scheme.b + scheme.b_end) * h / line.mass;
  last_drift = scheme.b_end * h / line.mass;
  impedance = std::sqrt(line.stiffness * line.mass);
}

std::int64_t ImplicitRecursion::memory() const {
  if (decay <= negligible) return 1;
  // One site more than the logarithm, which is rounded.
  const double sites = std::log(negligible) / std::log(decay) + 1.0;
  return sites < 1e9 ? static_cast<std::int64_t>(std::ceil(sites)) : std::numeric_limits<std::int64_t>::max();
}

namespace {

/// An unbounded line after one of its sites has been disturbed, as far as `half` sites to either side.
class Response {
 public:
  Response(const ImplicitRecursion& recursion, std::int64_t half, double v, double p)
      : recursion_(recursion), half_(half), v_(static_cast<std::size_t>(2 * half + 1)), p_(v_.size()), z_(v_.size()) {
    v_[static_cast<std::size_t>(half)] = v;
    p_[static_cast<std::size_t>(half)] = p;
  }

  void step() {
    const std::size_t n = v_.size();
    const double r = recursion_.decay;
    z_[0] = 0.0;
    for (std::size_t j = 1; j < n; ++j) z_[j] = r * z_[j - 1] + (v_[j] - v_[j - 1]);
    double z = 0.0, behind = 0.0;
    for (std::size_t j = n; j-- > 0;) {
      z = r * z + (z_[j] - behind);
      behind = z_[j];
      p_[j] -= recursion_.kick * z;
      v_[j] += recursion_.drift * p_[j] - recursion_.slip * z;
    }
  }

  /// The least distance from which on all sites on both sides together are negligible.
  std::int64_t reach() const {
    double sum = 0.0;
    for (std::int64_t distance = half_; distance > 0; --distance) {
      for (const std::int64_t j : {half_ - distance, half_ + distance}) {
        sum += std::abs(v_[static_cast<std::size_t>(j)]) +
               std::abs(p_[static_cast<std::size_t>(j)]) / recursion_.impedance;
      }
      // What is no number any more is not negligible.
      if (!(sum <= ImplicitRecursion::negligible)) return distance + 1;
    }
    return 1;
  }

 private:
  ImplicitRecursion recursion_;
  std::int64_t half_;
  std::vector<double> v_, p_, z_;
};

}  // namespace

ImplicitReach cheapest_reach(const ImplicitRecursion& recursion, std::int64_t limit) {
  // Loading, storing and the first half of the first step take about as long as so many steps.
  constexpr double overhead = 6.0;
  ImplicitReach best;
  if (recursion.memory() > limit) return best;
  Response displaced(recursion, 2 * limit, 1.0, 0.0), kicked(recursion, 2 * limit, 0.0, recursion.impedance);
  double least = std::numeric_limits<double>::infinity();
  for (int steps = 1; steps <= 64; ++steps) {
    displaced.step();
    kicked.step();
    if (steps < 4 || (steps & (steps - 1)) != 0) continue;
    const std::int64_t sites = std::max({displaced.reach(), kicked.reach(), recursion.memory()});
    if (sites > limit) break;
    const auto tile = static_cast<double>(LineImplicitTile::capacity_for(recursion, sites));
    const double cost = (1.0 + overhead / steps) * tile / (tile - 2.0 * static_cast<double>(sites));
    if (cost >= least) continue;
    least = cost;
    best = {steps, sites};
  }
  return best;
}

}  // namespace bathline
