// The time-centred difference scheme.
//
//   q+ = q + h M^-1 (p + p+)/2,   p+ = p + h f((q + q+)/2, (q+ - q)/h)
//
// Source: luo2010, eqs. (32), (37) and (42) for q'' + C q' + K q = 0, which follow eq. (30), z+ = z + h B (z + z+)/2.
// On nonlinear systems forces are evaluated at the middle of the step, as eq. (30) does with any z' = f(z); the
// trapezoidal rule, which averages the forces at both ends, would be the same on linear systems only. The map is that
// of the gamma family at 1/2 on every system, closed or open, with the same one-stage scheme: the damping force -C (q+
// - q)/h of luo2010, eq. (37), is that of farshi2018, eq. (52). It has its own name because its paper gives it one.
// Order 2, symmetric. Symplectic on closed systems; a damped step is not, and its ledger closes on linear ones: H+ - H
// = -(q+ - q)^T C (q+ - q)/h.
// Tested by tests/properties/order_test.cpp.
#include <limits>

#include "methods/catalogue.hpp"

namespace bathline {

namespace {

Scheme scheme(const Section&) { return one_stage(0.5, 0.5); }

MethodProperties properties(const Section&) {
  MethodProperties result;
  result.order = 2;
  result.symplectic = true;
  result.time_reversible = true;
  result.quadratic_invariants = true;
  result.angular_momentum = true;
  result.imaginary_axis_limit = std::numeric_limits<double>::infinity();
  result.real_axis_limit = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace

Method time_centred_method() {
  return {{.name = "time-centred",
           .summary = "time-centred differences: implicit, order 2, closes the energy ledger of linear damped systems",
           .equation = "q+ = q + h M^-1 (p + p+)/2,  p+ = p - h grad U((q + q+)/2) - C (q+ - q)",
           .source = "luo2010, eqs. (32), (37), (42)",
           .notes = "The same map as `gamma` with gamma = 0.5. The sum of energy and dissipated energy is constant on "
                    "open linear systems; on nonlinear ones it varies as the energy does without damping. A damped "
                    "step is not symplectic: the study `substituting-system` shows the conservative system of which it "
                    "is a symplectic step."},
          scheme,
          properties,
          Method::Domain::mechanical,
          {},
          {.takes_noise = true,
           .statement = "adds one impulse of covariance 2 h kT C per step: in a harmonic potential q and p have the "
                        "Gibbs distribution exactly, at any step"}};
}

}  // namespace bathline
