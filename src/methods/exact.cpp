// The exact flow: the reference that the other methods are measured against.
//
// Linear closed systems by their normal modes, linear damped systems by the matrix exponential, nonlinear systems by an
// adaptive extrapolation method with a tolerance near round-off, whose steps are not longer than that of the run. On a
// closed system all sites are gathered on one rank.
// Tested by tests/properties/order_test.cpp.
#include <limits>

#include "methods/catalogue.hpp"

namespace bathline {

namespace {

Scheme scheme(const Section&) { return ExactFlow{}; }

MethodProperties properties(const Section&) {
  MethodProperties result;
  result.symplectic = true;
  result.time_reversible = true;
  result.quadratic_invariants = true;
  result.angular_momentum = true;
  result.imaginary_axis_limit = std::numeric_limits<double>::infinity();
  result.real_axis_limit = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace

Method exact_method() {
  return {
      {.name = "exact",
       .summary = "the exact flow: normal modes, matrix exponential or an adaptive method of order up to 16",
       .equation = "x(t + h) = flow_h(x(t))",
       .source = "hairer2006, section I.1; hairer1993, section II.9, for the adaptive method",
       .keywords = {"reference solution", "matrix exponential"},
       .notes =
           "A reference, not a production method: a linear closed system is diagonalised as a whole, and a nonlinear "
           "one "
           "advanced by adaptive steps with a relative error of 1e-14 each, none longer than the step of the run, "
           "which "
           "begin anew at jumps and kinks in time of step, abs, sign, min, max and tables. Any other force that acts "
           "for "
           "much less than a step may be missed."},
      scheme,
      properties,
      Method::Domain::both,
      {},
      {.takes_noise = true,
       .statement =
           "adds the exact Gaussian increment of every step (vanloan1978), on linear systems only: paths have the "
           "law of the Langevin equation at any step"}};
}

}  // namespace bathline
