// The explicit and the implicit Euler method (symplectic Euler: gamma.cpp): baselines whose energy grows and decays
// numerically.
//
//   explicit: q+ = q + h M^-1 p,   p+ = p + h f(q, M^-1 p)
//   implicit: q+ = q + h M^-1 p+,  p+ = p + h f(q+, M^-1 p+)
//
// Source: hairer2006, section I.1.1; limebeer2020, section IV uses both as A_d = I + h A and (I - h A)^-1. Order 1.
// Tested by tests/properties/order_test.cpp.
#include <limits>

#include "methods/catalogue.hpp"

namespace bathline {

namespace {

Scheme explicit_scheme(const Section&) { return runge_kutta({{}}, {1.0}); }
Scheme implicit_scheme(const Section&) { return one_stage(1.0, 1.0); }

MethodProperties explicit_properties(const Section&) {
  MethodProperties result;
  result.order = 1;
  result.imaginary_axis_limit = 0.0;
  result.real_axis_limit = 2.0;
  return result;
}

MethodProperties implicit_properties(const Section&) {
  MethodProperties result;
  result.order = 1;
  result.imaginary_axis_limit = std::numeric_limits<double>::infinity();
  result.real_axis_limit = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace

Method explicit_euler_method() {
  return {{.name = "explicit-euler",
           .summary = "forward Euler, a baseline: every undamped oscillation grows",
           .equation = "q+ = q + h v,  p+ = p + h f(q, v),  v = M^-1 p",
           .source = "hairer2006, section I.1.1",
           .aliases = {{"forward-euler"}}},
          explicit_scheme,
          explicit_properties,
          Method::Domain::mechanical,
          {},
          {.statement = "takes no noise: its numerical energy growth would count as heat"}};
}

Method implicit_euler_method() {
  return {{.name = "implicit-euler",
           .summary = "backward Euler, a baseline: every oscillation loses energy",
           .equation = "q+ = q + h v+,  p+ = p + h f(q+, v+),  v+ = M^-1 p+",
           .source = "hairer2006, section I.1.1",
           .aliases = {{"backward-euler"}}},
          implicit_scheme,
          implicit_properties,
          Method::Domain::mechanical,
          {},
          {.statement = "takes no noise: its numerical damping would cool the system"}};
}

}  // namespace bathline
