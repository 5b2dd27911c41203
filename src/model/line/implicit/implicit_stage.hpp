// The two halves of an implicit one-stage step of consecutive sites of a uniform line, before and after the linear
// system of its stage momenta P is solved.
//
//   (I + a b h^2 K/M) P = p + a h F(w),   Q = w + b h P/M,   p+ = P + a_end h F(Q),   w+ = Q + b_end h P/M
//
// Source: farshi2018, eq. (45). Conserves what the scheme conserves.
#pragma once

#include <cstdint>

#include "integrate/scheme.hpp"
#include "model/line/sites.hpp"
#include "solve/tridiagonal.hpp"

namespace bathline {

/// The weights of a scheme with one stage, from the start of a step to the stage and from there to its end.
struct OneStage {
  double a = 0.0;      ///< of the momenta
  double b = 0.0;      ///< of the displacements
  double a_end = 0.0;  ///< of the momenta
  double b_end = 0.0;  ///< of the displacements

  static OneStage of(const CollocationScheme& scheme) {
    const double a = scheme.a_hat(0, 0), b = scheme.a(0, 0), end = scheme.b[0];
    return {a, b, end - a, end - b};
  }
};

/// A line's constants with a scheme and a step in s.
struct ImplicitStage {
  LineConstants line;
  OneStage scheme;
  double h = 0.0;

  /// Of the stage momenta of the whole line.
  LineMatrix matrix() const;
  /// Momenta become the right-hand side; `left` and `right` are the displacements beside the `n` >= 1 sites, in m.
  void begin(const double* w, double* p, std::int64_t n, double left, double right) const;
  /// Stage momenta become momenta and displacements those at the end of the step; `left` and `right` are the stage
  /// displacements beside the sites.
  void end(double* w, double* p, std::int64_t n, double left, double right) const;
  /// What the dashpot of the far end does to its site's momentum, by the site's stage momentum. Returns the energy that
  /// it takes, in J.
  double drag(double stage_momentum, double& p) const;
  double drag(std::int64_t, double stage_momentum, double& p) const { return drag(stage_momentum, p); }
  /// Stage displacement of a site with a stage momentum.
  double stage(double w, double stage_momentum) const;
  double stage(std::int64_t, double w, double stage_momentum) const { return stage(w, stage_momentum); }
  /// What turns a velocity of the head into what the solver takes for it.
  double solved_mass() const { return line.mass; }
  /// Force on the head is stiffness (w_1 - x) + push (P_1/M - v), where v is its stage velocity.
  double push() const { return line.stiffness * scheme.b * h; }
};

}  // namespace bathline
