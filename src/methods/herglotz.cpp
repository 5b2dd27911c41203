// The discrete Herglotz equations: a variational integrator of contact systems.
//
//   D1 L_d(q, q+, z) + (1 + D_z L_d) D2 L_d(q-, q, z-) = 0,   z+ - z = L_d(q, q+, z)
//   L_d = (q+ - q)^T M (q+ - q) / 2h - h V((q + q+)/2) + h gamma z, or the exact discrete Lagrangian
//
// and h L((q + q+)/2, (q+ - q)/h, t + h/2, z) for a Lagrangian of any form.
//
// Source: simoes2020, sections 3 and 5. Order 1: the factor 1 + h gamma takes the place of exp(h gamma). A step scales
// the contact form dz - p dq by sigma = 1 + D_z L_d, and the momentum of every symmetry of L_d as well (Theorem 3.11).
// Tested by tests/properties/order_test.cpp.
#include <limits>

#include "methods/catalogue.hpp"

namespace bathline {

namespace {

bool is_exact(const Section& options) { return options.text("lagrangian") == "exact"; }

Scheme scheme(const Section& options) { return HerglotzScheme{is_exact(options)}; }

/// With the midpoint rule it is a method with one stage, in which L is evaluated with the action at the start of the
/// step.
Scheme lagrangian_scheme(const Section& options) {
  if (is_exact(options)) return scheme(options);
  PartitionedRungeKutta midpoint = one_stage(0.5, 0.5);
  midpoint.freezes_action = true;
  return midpoint;
}

MethodProperties properties(const Section& options) {
  MethodProperties result;
  result.order = is_exact(options) ? 0 : 1;
  result.linear_invariants = false;
  result.imaginary_axis_limit = std::numeric_limits<double>::infinity();
  // p+ = (1 + h gamma) p of a free particle.
  result.real_axis_limit = is_exact(options) ? std::numeric_limits<double>::infinity() : 2.0;
  return result;
}

}  // namespace

Method herglotz_method() {
  return {
      {.name = "herglotz",
       .summary = "discrete Herglotz equations of simoes2020, for contact systems and damping C = -gamma M: order 1",
       .equation = "sigma p = -D1 L_d(q, q+),  p+ = D2 L_d(q, q+),  z+ = z + L_d(q, q+, z),  sigma = 1 + D_z L_d\n"
                   "L_d = (q+ - q)^T M (q+ - q) / 2h - h V((q + q+)/2) + h gamma z",
       .source = "simoes2020, sections 3 and 5",
       .parameters = {choice("lagrangian", {"midpoint", "exact"},
                             "discrete Lagrangian: by the midpoint rule, or the exact one of a free particle or a "
                             "harmonic oscillator, whose steps lie on the exact solution.",
                             "\"midpoint\"")},
       .notes = "Runs on systems of kind `contact`, on Lagrangians with z and on open systems whose damping is "
                "C = -gamma M, which become contact systems with z = 0 at the start; `gauss` and `lobatto` have a "
                "higher order on the first two. The momenta recorded are those of the discrete "
                "Legendre transforms, p^- = p^+. The dissipated "
                "energy is that of a damper -gamma M at the mean velocity of every step."},
      scheme,
      properties,
      Method::Domain::contact,
      lagrangian_scheme,
      {.statement = "takes no noise: the damping in its Lagrangian is not the force of a bath"}};
}

}  // namespace bathline
