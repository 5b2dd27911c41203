// The memory kernel of the semi-infinite line in continuous time, as exponentials that Runge-Kutta methods integrate.
//
//   F = -lambda Re sum_j W_j y_j,   y_j' = s_j y_j + x',   sum_j W_j exp(s_j t) = J_1(2 t)/t   in units of
//   sqrt(M/lambda)
//
// A line advanced by a Runge-Kutta method is a convolution quadrature, which commutes with rational functions: the same
// method applied to y_j gives the force of the line that it would advance. The exponentials are those of the midpoint
// rule with Courant number 1, mapped by s = 2 (z - 1)/(z + 1). Source: Lubich, Numer. Math. 52 (1988) 129, for the
// quadrature; weiss2012, section 3.1, for the kernel.
#pragma once

#include <vector>

#include "model/semi_infinite_line/exponential_terms.hpp"

namespace bathline {

std::vector<ExponentialTerm> compressed_bessel_kernel(const KernelAccuracy& accuracy);

}  // namespace bathline
