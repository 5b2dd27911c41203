// Explicit schemes on a line that stays in cache.
#pragma once

#include <memory>

#include "integrate/scheme.hpp"
#include "model/march.hpp"

namespace bathline {

class LineState;

/// For a line of which one rank holds all, short enough and in no need of stages; `otherwise`, a march of the same
/// scheme on the same line, for any other, and for blocks of a few steps. The same bits as any march's. @note
/// Collective.
std::unique_ptr<ExplicitMarch> make_short_march(LineState& line, const ExplicitScheme& scheme, double h,
                                                std::unique_ptr<ExplicitMarch> otherwise);

}  // namespace bathline
