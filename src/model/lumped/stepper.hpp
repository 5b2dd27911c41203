// What advances a lumped environment.
#pragma once

#include <memory>

#include "model/lumped/lumped.hpp"

namespace bathline {

/// Steps of a block, as many as anybody likes.
constexpr int lumped_block = 1 << 20;

/// Whether a step is the same from its end: what relaxes may then do so before and after it.
bool is_symmetric(const ExplicitScheme& scheme);

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(LumpedEnvironment& environment,
                                                                              const ExplicitScheme& scheme, double h);
/// Of a linear one.
std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(LumpedEnvironment& environment,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h);

}  // namespace bathline
