// The steppers of modes.
#pragma once

#include <cmath>
#include <memory>

#include "model/environment_stepper.hpp"
#include "model/modes/state.hpp"

namespace bathline {

/// Whether a step is a kick between two drifts, with softer springs (make_splitting_pass): the gamma family with one
/// stage.
inline bool is_kick_between_drifts(const PartitionedRungeKutta& scheme) {
  return scheme.stages() == 1 && std::abs(scheme.a(0, 0) + scheme.a_hat(0, 0) - 1.0) < 1e-14;
}

/// `modes` must outlive them. Splittings take `steps_per_pass` steps in one pass over the modes.
std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_stepper(ModesState& modes, const ExplicitScheme& scheme,
                                                                  double h, int steps_per_pass);
std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_stepper(ModesState& modes,
                                                                  const PartitionedRungeKutta& scheme, double h);

}  // namespace bathline
