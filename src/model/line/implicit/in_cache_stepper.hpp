// Implicit schemes on a uniform line that fits into the cache.
#pragma once

#include <memory>

#include "model/line/implicit/recursion.hpp"
#include "model/environment_stepper.hpp"

namespace bathline {

class LineState;

/// For a line on one rank that is short enough for the cache and long enough for lanes; nullptr otherwise. Results do
/// not depend on the blocks, to the bit. `recursion` is that of the scheme.
std::unique_ptr<ImplicitEnvironmentStepper> make_in_cache_implicit_stepper(LineState& line,
                                                                           const PartitionedRungeKutta& scheme,
                                                                           const LineRecursion& recursion, double h);

}  // namespace bathline
