// The order of a discrete Lagrangian of doubled variables, from its differences to the exact one.
//
//   L~_d^e(x0, x1, y0, y1) = int_0^h L~ dt  along the solution of the doubled equations with these ends
//   order r:  |L~_d - L~_d^e| / h <= c h^r  for all ends on solutions of bounded velocity
//
// On the diagonal both are zero. Order r off the diagonal implies order r of the integrator. Source: martin2018,
// Definition 5.1 and Theorem 7.1. The solution is approximated by a stationary polynomial of degree 8 on nine Lobatto
// nodes, with order 16.
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem.hpp"
#include "study/theory/measured_order.hpp"
#include "study/theory/galerkin_rule.hpp"

namespace bathline {

/// Adds the errors of the discrete Lagrangian of an open problem, divided by the step, in J, to `errors`, `draws` of
/// them for each of the steps (s, in falling order), and fits their order. Paths begin at random positions within
/// `spread` of the start, with mean velocities within `spread` of that of the start, the same for all steps. Returns
/// zero, or the step for which Newton's method finds no path. To be called on rank 0 only.
double add_lagrangian_errors(const Problem& problem, const GalerkinRule& rule, const std::vector<double>& steps,
                             std::int64_t draws, double spread, std::uint64_t seed, MeasuredOrder& errors);

}  // namespace bathline
