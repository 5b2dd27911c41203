// The kicks and drifts of a block of steps, grouped into levels that a sweep along a line performs together.
#pragma once

#include <span>
#include <vector>

#include "methods/scheme.hpp"

namespace bathline {

/// Up to two consecutive kicks, which see the same displacements, then up to two consecutive drifts.
struct LineLevel {
  int kicks = 0;
  int drifts = 0;
  double kick[2] = {};   ///< weight h
  double drift[2] = {};  ///< weight h
  /// Its forces depend on one more site on either side than those of the level before.
  bool widens_stencil = false;

  bool has_same_shape(const LineLevel& other) const {
    return kicks == other.kicks && drifts == other.drifts && widens_stencil == other.widens_stencil;
  }
};

/// Replaces `levels` by those of `steps` steps of a splitting.
void make_levels(const ExplicitScheme& scheme, double h, int steps, std::vector<LineLevel>& levels);

/// How many of the remaining levels a sweep with room for `depth` levels takes: `depth` or one. They must have the same
/// numbers of kicks and drifts, except that the last level of the block may have no drifts.
std::size_t levels_per_sweep(std::span<const LineLevel> levels, std::size_t depth);

}  // namespace bathline
