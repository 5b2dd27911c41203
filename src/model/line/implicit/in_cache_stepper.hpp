// Implicit schemes on a uniform line that stays in cache.
#pragma once

#include <memory>

#include "model/line/implicit/recursion.hpp"
#include "model/environment_stepper.hpp"

namespace bathline {

class LineState;

/// Blocks of steps for a line of which one rank holds all, short enough for its cache and long enough for lanes;
/// nothing for any other. No bit depends on the blocks. `recursion` is that of the scheme.
std::unique_ptr<ImplicitEnvironmentStepper> make_in_cache_implicit_stepper(LineState& line,
                                                                           const PartitionedRungeKutta& scheme,
                                                                           const LineRecursion& recursion, double h);

}  // namespace bathline
