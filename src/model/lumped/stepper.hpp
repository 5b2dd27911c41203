// The steppers of lumped environments.
#pragma once

#include <memory>

#include "model/lumped/lumped.hpp"

namespace bathline {

/// Blocks have no natural limit; this only bounds the number of steps.
constexpr int lumped_max_block_steps = 1 << 20;

/// Whether the substeps are the same in reverse order; decay may then be applied before and after a step.
bool is_symmetric(const ExplicitScheme& scheme);

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(LumpedEnvironment& environment,
                                                                              const ExplicitScheme& scheme, double h);
/// `environment` must be linear.
std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(LumpedEnvironment& environment,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h);

}  // namespace bathline
