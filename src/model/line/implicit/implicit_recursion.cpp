// The numbers of an implicit step inside a uniform line, and how far such steps reach.
#include "model/line/implicit/implicit_recursion.hpp"

#include <cmath>
#include <limits>

#include "model/line/implicit/implicit_tile.hpp"

namespace bathline {

ImplicitRecursion::ImplicitRecursion(const LineConstants& line, const OneStage& scheme, double h) {
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

std::int64_t ImplicitRecursion::memory() const { return sites_of_influence(decay); }

void ImplicitRecursion::step(std::vector<double>& v, std::vector<double>& p) const {
  std::vector<double> y(v.size());
  for (std::size_t j = 1; j < v.size(); ++j) y[j] = decay * y[j - 1] + (v[j] - v[j - 1]);
  double z = 0.0, behind = 0.0;
  for (std::size_t j = v.size(); j-- > 0;) {
    z = decay * z + (y[j] - behind);
    behind = y[j];
    p[j] -= kick * z;
    v[j] += drift * p[j] - slip * z;
  }
}

ImplicitReach cheapest_reach(const ImplicitRecursion& recursion, std::int64_t limit) {
  return cheapest_reach_in_tiles<LineImplicitTile>(recursion, limit);
}

}  // namespace bathline
