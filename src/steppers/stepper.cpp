// The choice of the stepper of a scheme.
// Tested by tests/properties/order_test.cpp.
#include "steppers/stepper.hpp"

namespace bathline {

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // needed by clang 14

}  // namespace

std::unique_ptr<Stepper> make_stepper(const Scheme& scheme, Problem& problem, double h) {
  return std::visit(
      Overloaded{
          [&](const ExplicitScheme& explicit_scheme) {
            return problem.system().lagrangian ? make_lagrangian_stepper(explicit_scheme, problem, h)
                                               : make_explicit_stepper(explicit_scheme, problem, h);
          },
          [&](const PartitionedRungeKutta& implicit) { return make_implicit_stepper(implicit, problem, h); },
          [&](const ExactFlow& exact) { return make_exact_stepper(problem, h, exact.tolerance); },
          [&](const HerglotzScheme& herglotz) { return make_herglotz_stepper(herglotz, problem, h); },
      },
      scheme);
}

}  // namespace bathline
