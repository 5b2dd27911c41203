// The Stoermer-Verlet method, in both orders of its substeps.
//
//   kick-drift-kick:  p_ = p + h/2 f(q),  q+ = q + h M^-1 p_,  p+ = p_ + h/2 f(q+)
//   drift-kick-drift: q_ = q + h/2 M^-1 p,  p+ = p + h f(q_),  q+ = q_ + h/2 M^-1 p+
//
// Source: hairer2006, section I.1.4. Order 2, symplectic, symmetric; explicit for separable systems. A damping force
// enters as in the gamma family: each half is one of its explicit ends, the other half is the adjoint. With noise both
// halves share an impulse of covariance 2 h kT C: kick-drift-kick is then the method of gronbech2013. `baoab` is the
// method of leimkuhler2013, B A O A B with kicks B, drifts A and the exact flow O of p' = -C v + noise.
// Tested by tests/properties/order_test.cpp.
#include <limits>

#include "methods/catalogue.hpp"

namespace bathline {

namespace {

using Kind = Substep::Kind;

Scheme kick_drift_kick(const Section&) {
  return splitting(
      {{.kind = Kind::kick, .weight = 0.5, .velocity_after = true}, {Kind::drift, 1.0}, {Kind::kick, 0.5}});
}

Scheme scheme(const Section& options) {
  if (options.text("order_of_substeps") == "drift-kick-drift") {
    return splitting({{Kind::drift, 0.5},
                      {Kind::kick, 0.5},
                      {.kind = Kind::kick, .weight = 0.5, .velocity_after = true},
                      {Kind::drift, 0.5}});
  }
  return kick_drift_kick(options);
}

Scheme baoab(const Section&) {
  return splitting({{Kind::kick, 0.5},
                    {Kind::drift, 0.5},
                    {Kind::ou, 1.0},
                    {Kind::drift, 0.5},
                    {.kind = Kind::kick, .weight = 0.5, .velocity_after = true}});
}

MethodProperties properties(const Section&) {
  MethodProperties result;
  result.order = 2;
  result.symplectic = true;
  result.time_reversible = true;
  result.angular_momentum = true;
  result.imaginary_axis_limit = 2.0;
  result.real_axis_limit = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace

Method stoermer_verlet_method() {
  return {{.name = "stoermer-verlet",
           .summary = "kick, drift, kick: explicit, symplectic, symmetric, order 2",
           .equation = "p_ = p - h/2 grad U(q),  q+ = q + h M^-1 p_,  p+ = p_ - h/2 grad U(q+)",
           .source = "hairer2006, section I.1.4",
           .aliases = {{"leapfrog"},
                       {"velocity-verlet", {{"order_of_substeps", "\"kick-drift-kick\""}}},
                       {"position-verlet", {{"order_of_substeps", "\"drift-kick-drift\""}}}},
           .keywords = {"verlet", "strang splitting", "störmer-verlet"},
           .parameters = {choice("order_of_substeps", {"kick-drift-kick", "drift-kick-drift"},
                                 "which substep comes first and last.", "\"kick-drift-kick\"")},
           .notes = "On a damped system the composition of the reduced gamma schemes 1 and 0 with half the step."},
          scheme,
          properties,
          Method::Domain::mechanical,
          {},
          {.takes_noise = true,
           .statement = "shares one impulse of covariance 2 h kT C between both halves of a step: in a harmonic "
                        "potential q has the covariance kT K^-1 exactly, at any step; p has kT (M - h^2 K/4) with "
                        "kick-drift-kick, v has kT (M - h^2 K/4)^-1 with drift-kick-drift"}};
}

Method gjf_method() {
  return {
      {.name = "gjf",
       .summary = "the Langevin integrator of Gronbech-Jensen and Farago: positions exact on harmonic potentials",
       .equation = "p_ = p - h/2 (grad U(q) + C v_) + xi/2,  q+ = q + h v_,  p+ = p_ - h/2 (grad U(q+) + C v_) + xi/2",
       .source = "gronbech2013, eqs. (19)-(20)",
       .aliases = {{"g-jf"}},
       .keywords = {"gronbech-jensen", "gronbech-jensen-farago", "langevin"},
       .notes = "Another name of `stoermer-verlet`, kick-drift-kick."},
      kick_drift_kick,
      properties,
      Method::Domain::mechanical,
      {},
      {.takes_noise = true,
       .statement = "shares one impulse of covariance 2 h kT C between both halves of a step: in a harmonic potential "
                    "q has the covariance kT K^-1 exactly, at any step, and p has kT (M - h^2 K/4); diffusion and "
                    "drift of free particles are exact"}};
}

Method baoab_method() {
  return {{.name = "baoab",
           .summary = "the Langevin integrator of Leimkuhler and Matthews: positions exact on harmonic potentials",
           .equation = "B: p -= h/2 grad U(q),  A: q += h/2 v,  O: p' = -C v + noise over h exactly,  A,  B",
           .source = "leimkuhler2013, section 2",
           .aliases = {{"langevin-baoab"}},
           .keywords = {"langevin", "leimkuhler-matthews"},
           .notes = "Without noise it is `stoermer-verlet`, kick-drift-kick, which damps in its kicks."},
          kick_drift_kick,
          properties,
          Method::Domain::mechanical,
          {},
          {.takes_noise = true,
           .statement = "applies damping and noise by the exact flow of p' = -C v + noise in the middle of a step: in "
                        "a harmonic potential q has the covariance kT K^-1 exactly, at any step, and p has kT (M - h^2 "
                        "K/4); diffusion of free particles, and their drift under a constant force as in a tilted "
                        "potential, are too large by the factor x coth x, x = h C/2m",
           .scheme = baoab}};
}

}  // namespace bathline
