// The classical Runge-Kutta method of order 4: a baseline with slow numerical dissipation.
//
// Source: hairer2006, section II.1.1, table (1.8). Order 4, neither symplectic nor symmetric; explicit.
// Tested by tests/properties/order_test.cpp.
#include <cmath>

#include "methods/catalogue.hpp"

namespace bathline {

namespace {

Scheme scheme(const Section&) {
  return runge_kutta({{}, {0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}}, {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0});
}

MethodProperties properties(const Section&) {
  MethodProperties result;
  result.order = 4;
  result.imaginary_axis_limit = 2.0 * std::sqrt(2.0);  // |R(iy)|^2 = 1 - y^6/72 + y^8/576
  result.real_axis_limit = 2.785293563405282;          // real root of 1 - y/2 + y^2/6 - y^3/24
  return result;
}

}  // namespace

Method rk4_method() {
  return {{.name = "rk4",
           .summary = "classical Runge-Kutta, a baseline: order 4, slow loss of energy",
           .equation = "k_i = F(x + h sum_j a_ij k_j),  x+ = x + h (k_1 + 2 k_2 + 2 k_3 + k_4) / 6",
           .source = "hairer2006, section II.1.1",
           .keywords = {"runge-kutta", "classical runge-kutta"}},
          scheme,
          properties,
          Method::Domain::mechanical,
          {},
          {.statement = "takes no noise: its numerical dissipation breaks the fluctuation-dissipation relation"}};
}

}  // namespace bathline
