// Explicit schemes on a line that stays in cache.
#pragma once

#include <memory>

#include "methods/scheme.hpp"
#include "model/environment_stepper.hpp"

namespace bathline {

class LineState;

/// For a line of which one rank holds all, short enough and in no need of stages; `otherwise`, a march of the same
/// scheme on the same line, for any other, and for blocks of a few steps. The same bits as any march's. @note
/// Collective.
std::unique_ptr<ExplicitEnvironmentStepper> make_in_cache_explicit_stepper(
    LineState& line, const ExplicitScheme& scheme, double h, std::unique_ptr<ExplicitEnvironmentStepper> otherwise);

}  // namespace bathline
