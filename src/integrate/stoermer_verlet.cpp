// The Stoermer-Verlet method, in both orders of its substeps.
//
//   kick-drift-kick:  p_ = p + h/2 f(q),  q+ = q + h M^-1 p_,  p+ = p_ + h/2 f(q+)
//   drift-kick-drift: q_ = q + h/2 M^-1 p,  p+ = p + h f(q_),  q+ = q_ + h/2 M^-1 p+
//
// Source: hairer2006, section I.1.4. Order 2, symplectic, symmetric; explicit for separable systems.
// A damping force enters as in the gamma family: each half is one of its explicit ends, the other half is the adjoint.
// Tested by tests/properties/order_test.cpp.
#include <limits>

#include "integrate/catalogue.hpp"

namespace bathline {

namespace {

Scheme scheme(const Section& options) {
  using Kind = Substep::Kind;
  if (options.text("order_of_substeps") == "drift-kick-drift") {
    return splitting({{Kind::drift, 0.5}, {Kind::kick, 0.5}, {Kind::kick, 0.5, true}, {Kind::drift, 0.5}});
  }
  return splitting({{Kind::kick, 0.5, true}, {Kind::drift, 1.0}, {Kind::kick, 0.5}});
}

Properties properties(const Section&) {
  Properties result;
  result.order = 2;
  result.symplectic = true;
  result.time_reversible = true;
  result.angular_momentum = true;
  result.oscillation_limit = 2.0;
  result.decay_limit = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace

Method stoermer_verlet_method() {
  return {{.name = "stoermer-verlet",
           .summary = "kick, drift, kick: explicit, symplectic, symmetric, order 2",
           .equation = "p_ = p - h/2 grad U(q),  q+ = q + h M^-1 p_,  p+ = p_ - h/2 grad U(q+)",
           .source = "hairer2006, section I.1.4",
           .parameters = {{.name = "order_of_substeps",
                           .type = ValueType::text,
                           .doc = "which substep comes first and last.",
                           .fallback = "\"kick-drift-kick\"",
                           .choices = {"kick-drift-kick", "drift-kick-drift"}}},
           .notes = "On a damped system the composition of the reduced gamma schemes 1 and 0 with half the step."},
          scheme,
          properties};
}

}  // namespace bathline
