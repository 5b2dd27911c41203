// Symmetric kick-and-drift schemes built from tables of weights, and their stability limits.
#include "methods/splitting.hpp"

#include <cmath>
#include <numeric>

#include "methods/stability_boundary.hpp"

namespace bathline {

namespace {

using Kind = Substep::Kind;

/// A kick on a damped system is half of it with the velocity before and half with the velocity after.
void add_kick(double weight, std::vector<Substep>& substeps) {
  substeps.push_back({Kind::kick, 0.5 * weight});
  substeps.push_back({.kind = Kind::kick, .weight = 0.5 * weight, .velocity_after = true});
}

void add_drift(double weight, std::vector<Substep>& substeps) {
  if (!substeps.empty() && substeps.back().kind == Kind::drift) {
    substeps.back().weight += weight;
  } else {
    substeps.push_back({Kind::drift, weight});
  }
}

// Gaps of instability are narrow where a method is accurate: 7e-4 wide at order 10.
constexpr double stride = 1e-4;

/// An upper bound of the limits: that of the Stoermer-Verlet method, 2, times the number of kicks.
double highest_limit(const ExplicitScheme& scheme) { return 2.0 * static_cast<double>(scheme.substeps.size()); }

}  // namespace

std::vector<double> palindrome(std::span<const double> half, int length) {
  std::vector<double> weights(half.begin(), half.end());
  const double rest = 1.0 - 2.0 * std::accumulate(half.begin(), half.end(), 0.0);
  const auto middle = static_cast<std::size_t>(length) - 2 * half.size();
  weights.insert(weights.end(), middle, rest / static_cast<double>(middle));
  weights.insert(weights.end(), half.rbegin(), half.rend());
  return weights;
}

ExplicitScheme composition(std::span<const double> weights) {
  std::vector<Substep> substeps;
  for (double weight : weights) {
    add_drift(0.5 * weight, substeps);
    add_kick(weight, substeps);
    add_drift(0.5 * weight, substeps);
  }
  return splitting(std::move(substeps));
}

ExplicitScheme alternating_splitting(Kind outer_kind, std::span<const double> outer, std::span<const double> inner) {
  std::vector<Substep> substeps;
  const bool kick_outside = outer_kind == Kind::kick;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    kick_outside ? add_kick(outer[i], substeps) : add_drift(outer[i], substeps);
    if (i < inner.size()) kick_outside ? add_drift(inner[i], substeps) : add_kick(inner[i], substeps);
  }
  return splitting(std::move(substeps));
}

double imaginary_axis_limit(const ExplicitScheme& scheme) {
  const auto grows = [&](double x) {
    // The step matrix [a b; c d] of q' = p, p' = -q. A symmetric one has a = d, and its eigenvalues leave the unit
    // circle where a^2 - 1 = b c is positive.
    double a = 1.0, b = 0.0, c = 0.0, d = 1.0;
    for (const Substep& substep : scheme.substeps) {
      const double weighted = substep.weight * x;
      if (substep.kind == Kind::drift) {
        a += weighted * c;
        b += weighted * d;
      } else {
        c -= weighted * a;
        d -= weighted * b;
      }
    }
    return b * c > 0.0;
  };
  return find_stability_boundary(grows, stride, highest_limit(scheme));
}

double real_axis_limit(const ExplicitScheme& scheme) {
  const auto grows = [&](double z) {
    double factor = 1.0;
    for (const Substep& substep : scheme.substeps) {
      if (substep.kind != Kind::kick) continue;
      factor *= substep.velocity_after ? 1.0 / (1.0 + substep.weight * z) : 1.0 - substep.weight * z;
    }
    return !(std::abs(factor) <= 1.0);
  };
  return find_stability_boundary(grows, stride, highest_limit(scheme));
}

}  // namespace bathline
