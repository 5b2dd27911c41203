// One implicit one-stage step inside a uniform line as two recursions of first order along it, one from either side.
//
//   v = w + b h/M p,   (I + c K) D = -a h lambda K v,   K = -(second difference),   c = a b h^2 lambda/M
//   p+ = p + (1 + a_end/a) D,   w+ = w + (b + b_end) h/M (p + D)
//
// With S the shift by a site, K = (1 - S)(1 - S^-1) and I + c K = (c/r) (1 - r S)(1 - r S^-1), so
//
//   D = -(r/c) a h lambda z,   z = (1 - S)/(1 - r S) (1 - S^-1)/(1 - r S^-1) v,   r = ((1 + 2c) - sqrt(1 + 4c)) / 2c
//
// The unknown is the change of the momentum, which small steps leave small: nothing is lost. Conserves what the scheme
// conserves (the symplectic form, for every gamma; energy on average), to round-off.
// Source: the scheme, farshi2018, eq. (45); a spectral factorisation of its matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "model/line/implicit/implicit_stage.hpp"
#include "model/line/implicit/reach.hpp"

namespace bathline {

/// The numbers of that step. Sites act on each other by decay^distance within a step.
struct ImplicitRecursion {
  ImplicitRecursion(const LineConstants& line, const OneStage& scheme, double h);

  double decay;       ///< r
  double to_stage;    ///< v = w + to_stage p
  double kick;        ///< p+ = p - kick z
  double slip;        ///< v+ = v + drift p+ - slip z; zero for symplectic schemes
  double drift;       ///< from one v to the next
  double last_drift;  ///< the same with last_drift makes w+ of v
  double impedance;   ///< sqrt(lambda M), which makes momenta comparable with displacements

  /// A step of an unbounded line by plain loops, from one v to the next.
  void step(std::vector<double>& v, std::vector<double>& p) const;
  /// Sites after which decay^sites is negligible; the largest number there is where it never is.
  std::int64_t memory() const;
};

/// The block that does least work per step, see reach.hpp.
ImplicitReach cheapest_reach(const ImplicitRecursion& recursion, std::int64_t limit);

}  // namespace bathline
