// Explicit schemes on a line that fits into the cache.
#pragma once

#include <memory>

#include "methods/scheme.hpp"
#include "model/environment_stepper.hpp"

namespace bathline {

class LineState;

/// For a splitting on a line that is short enough and on one rank; otherwise, and for blocks of a few steps, `fallback`
/// is used, a stepper of the same scheme on the same line. Results agree to the bit. @note Collective.
std::unique_ptr<ExplicitEnvironmentStepper> make_in_cache_explicit_stepper(
    LineState& line, const ExplicitScheme& scheme, double h, std::unique_ptr<ExplicitEnvironmentStepper> fallback);

}  // namespace bathline
