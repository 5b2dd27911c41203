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

/// White noise on nonlinear couplings is that of the exact flow at fixed positions, before and after steps that have no
/// substeps for it: an impulse within a step would have a bias of the first order, as the positions at which it acts
/// depend on it. A drift and a kick keep theirs: with it they are a warm line on its characteristic grid.
Scheme with_coupled_noise_outside(Scheme scheme) {
  if (auto* splitting = std::get_if<ExplicitScheme>(&scheme)) {
    if (!splitting->has_ou_substeps() && !splitting->is_drift_and_kick()) *splitting = splitting->with_ou_outside();
  } else if (auto* stages = std::get_if<PartitionedRungeKutta>(&scheme)) {
    stages->ou_outside = true;
  }
  return scheme;
}

}  // namespace

std::unique_ptr<Stepper> make_stepper(const Scheme& given, Problem& problem, double h) {
  const bool has_coupled_noise = problem.is_noisy() && !problem.coupled_friction().dampers().empty();
  const Scheme scheme = has_coupled_noise ? with_coupled_noise_outside(given) : given;
  return std::visit(
      Overloaded{
          [&](const ExplicitScheme& explicit_scheme) { return make_explicit_stepper(explicit_scheme, problem, h); },
          [&](const PartitionedRungeKutta& implicit) { return make_implicit_stepper(implicit, problem, h); },
          [&](const ExactFlow& exact) { return make_exact_stepper(problem, h, exact.tolerance); },
          [&](const HerglotzScheme& herglotz) { return make_herglotz_stepper(herglotz, problem, h); },
      },
      scheme);
}

}  // namespace bathline
