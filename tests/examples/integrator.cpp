// Example of a user-defined integrator: Ruth's symplectic splitting of order 3, explicit, not symmetric.
//
//   kick b_1 h, drift a_1 h, kick b_2 h, drift a_2 h, kick b_3 h, drift a_3 h
//
// An explicit splitting is a list of weights. From these the program runs it on particles and on any environment, on
// any number of ranks, in blocks of steps, with checkpoints.
#include "command_line/run_program.hpp"
#include "methods/splitting.hpp"
#include "builtin_catalogues.hpp"

using namespace bathline;

Method ruth3_method() {
  using enum Substep::Kind;
  const ExplicitScheme scheme = splitting({{kick, 7.0 / 24.0},
                                           {drift, 2.0 / 3.0},
                                           {kick, 3.0 / 4.0},
                                           {drift, -2.0 / 3.0},
                                           {kick, -1.0 / 24.0},
                                           {drift, 1.0}});
  MethodProperties properties;
  properties.order = 3;
  properties.order_damped = 1;
  properties.symplectic = true;
  properties.angular_momentum = true;
  properties.imaginary_axis_limit = imaginary_axis_limit(scheme);
  properties.real_axis_limit = real_axis_limit(scheme);
  return {{.name = "ruth3",
           .summary = "splitting with 3 kicks: explicit, symplectic, order 3",
           .equation = "alternately kicks p += b_i h f(q) and drifts q += a_i h v",
           .source = "hairer2006, section II.5"},
          [scheme](const Section&) { return Scheme(scheme); },
          [properties](const Section&) { return properties; }};
}

int main(int argc, char** argv) {
  Catalogues catalogues = builtin_catalogues();
  catalogues.integrators.add(ruth3_method());
  return run_program(argc, argv, catalogues);
}
