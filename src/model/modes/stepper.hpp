// The steppers of modes.
#pragma once

#include <memory>

#include "model/environment_stepper.hpp"
#include "model/modes/state.hpp"

namespace bathline {

/// `modes` must outlive them. Splittings take `steps_per_pass` steps in one pass over the modes.
std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_stepper(ModesState& modes, const ExplicitScheme& scheme,
                                                                  double h, int steps_per_pass);
std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_stepper(ModesState& modes,
                                                                  const PartitionedRungeKutta& scheme, double h);

}  // namespace bathline
