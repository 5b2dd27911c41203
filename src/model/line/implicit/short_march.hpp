// Implicit schemes on a uniform line that stays in cache.
#pragma once

#include <memory>

#include "model/line/implicit/recursion.hpp"
#include "model/march.hpp"

namespace bathline {

class LineState;

/// Blocks of steps for a line of which one rank holds all, short enough for its cache and long enough for lanes;
/// nothing for any other. No bit depends on the blocks. `recursion` is that of the scheme.
std::unique_ptr<ImplicitMarch> make_short_implicit_march(LineState& line, const CollocationScheme& scheme,
                                                         const LineRecursion& recursion, double h);

}  // namespace bathline
