// The two halves of an implicit one-stage step of consecutive sites of a line whose sites differ, before and after the
// linear system of its stage momenta P is solved.
//
//   (I + a h (b h K + C) M^-1) P = p + a h F(w),   Q = w + b h P/M,   p+ = P + a_end h (F(Q) - C P/M),
//   w+ = Q + b_end h P/M,   F(w)_j = k_{j+1} (w_{j+1} - w_j) - k_j (w_j - w_{j-1})
//
// K holds the springs, M the masses, C the dashpot of the far end. Source: farshi2018, eq. (45). Conserves what the
// scheme conserves. On equal sites the same as implicit_stage.hpp up to round-off.
#pragma once

#include <cstdint>

#include "integrate/scheme.hpp"
#include "model/line/implicit/implicit_stage.hpp"
#include "model/line/springs.hpp"
#include "model/line/sites.hpp"
#include "solve/unequal_tridiagonal.hpp"

namespace bathline {

/// What the sites of a rank are made of, with a scheme and a step in s.
struct UnequalStage {
  LineSprings sites;  ///< known beyond the ends as well, as far as there are sites
  FarEnd far_end = FarEnd::fixed;
  double dashpot = 0.0;
  OneStage scheme;
  double h = 0.0;

  /// Of the stage momenta of this rank's `n` sites.
  UnequalLineMatrix matrix(std::int64_t n) const;
  /// Momenta become the right-hand side; `left` and `right` are the displacements beside the `n` >= 1 sites, in m.
  void begin(const double* w, double* p, std::int64_t n, double left, double right) const;
  /// Stage momenta become momenta and displacements those at the end of the step; `left` and `right` are the stage
  /// displacements beside the sites.
  void end(double* w, double* p, std::int64_t n, double left, double right) const;
  /// What the dashpot of the far end does to the momentum of `site`, by its stage momentum. Returns the energy that it
  /// takes, in J.
  double drag(std::int64_t site, double stage_momentum, double& p) const;
  /// Stage displacement of a site with a stage momentum.
  double stage(std::int64_t site, double w, double stage_momentum) const;
  /// The solver takes the head's velocity as it is.
  double solved_mass() const { return 1.0; }
};

}  // namespace bathline
