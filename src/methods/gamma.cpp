// The gamma family of one-step methods: symplectic Euler (0 and 1) and the implicit midpoint rule (1/2).
//
//   q+ = q + h M^-1 ((1-g) p + g p+),   p+ = p + h f((1-g) q+ + g q, (q+ - q)/h),      g = gamma in [0, 1]
//
// Source: farshi2018, eq. (45) for closed and eq. (52) for damped systems; limebeer2020, eqs. (53)-(54) is g = 0.
// Conserves: the symplectic form for every g on closed systems. Order 2 at g = 1/2 (implicit midpoint), else 1.
// With the stage values P = (1-g) p + g p+ and Q = g q + (1-g) q+ it is a partitioned method with one stage, explicit
// at both ends.
// Tested by tests/properties/order_test.cpp.
#include <cmath>
#include <limits>

#include "methods/catalogue.hpp"

namespace bathline {

namespace {

Scheme scheme(const Section& options) {
  const double g = options.number("gamma");
  if (g == 0.0) return splitting({{Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 1.0}});
  if (g == 1.0)
    return splitting(
        {{.kind = Substep::Kind::kick, .weight = 1.0, .velocity_after = true}, {Substep::Kind::drift, 1.0}});
  return one_stage(1.0 - g, g);
}

/// Implicit at both ends of the family as well: L(g q + (1-g) q+, (q+ - q)/h) couples both momenta.
Scheme lagrangian_scheme(const Section& options) {
  const double g = options.number("gamma");
  return one_stage(1.0 - g, g);
}

MethodProperties properties(const Section& options) {
  const double g = options.number("gamma");
  MethodProperties result;
  result.order = g == 0.5 ? 2 : 1;
  result.symplectic = true;
  result.time_reversible = g == 0.5;
  result.quadratic_invariants = g == 0.5;
  result.angular_momentum = true;
  // The trace of the step matrix of an oscillator is 2 - x / (1 + g (1-g) x) with x = (h omega)^2.
  const double edge = 1.0 - 4.0 * g * (1.0 - g);
  result.imaginary_axis_limit = edge <= 0.0 ? std::numeric_limits<double>::infinity() : 2.0 / std::sqrt(edge);
  result.real_axis_limit = g >= 0.5 ? std::numeric_limits<double>::infinity() : 2.0 / (1.0 - 2.0 * g);
  return result;
}

}  // namespace

Method gamma_method() {
  return {
      {.name = "gamma",
       .summary = "symplectic one-step family; 0 and 1 explicit, 1/2 the implicit midpoint rule",
       .equation = "q+ = q + h M^-1 ((1-g) p + g p+)\n"
                   "p+ = p - h grad U(g q + (1-g) q+) - C (q+ - q)",
       .source = "farshi2018, eqs. (45) and (52); limebeer2020, eqs. (53)-(54) for g = 0",
       .aliases = {{"symplectic-euler", {{"gamma", "1.0"}}}},
       .keywords = {"semi-implicit euler", "euler-cromer", "variational integrator"},
       .parameters = {defaulted("gamma", ValueType::number, "", "0.0", "weight g of the end momentum",
                                Bound::unit_interval)},
       .notes = "Closed: symplectic for every g. Open: the reduced scheme, g = 0 being the variational scheme of "
                "limebeer2020. Implicit for 0 < g < 1 and for Lagrangians of any form: Newton's method for the "
                "particles after the environments are eliminated. The discrete Lagrangian is h L(g q + (1-g) q+, (q+ - "
                "q)/h, t + (1-g) h)."},
      scheme,
      properties,
      Method::Domain::mechanical,
      lagrangian_scheme,
      {.takes_noise = true,
       .statement = "adds one impulse of covariance 2 h kT C per step: in a harmonic potential, for any M, K, C and h, "
                    "q + eta v has the covariance kT K^-1 and v the covariance kT S^-1, with eta = (1 - 2g) h/2 and "
                    "S = M - eta C - eta^2 K. With g = 1/2 that is the Gibbs distribution of q and p"}};
}

}  // namespace bathline
