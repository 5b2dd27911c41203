// The kicks and drifts of a block of steps in the order in which a piece of a line is swept.
#pragma once

#include <span>
#include <vector>

#include "methods/scheme.hpp"

namespace bathline {

/// Up to two kicks in a row, which see the same displacements, then up to two drifts in a row.
struct LineLevel {
  int kicks = 0;
  int drifts = 0;
  double kick[2] = {};   ///< weight h
  double drift[2] = {};  ///< weight h
  /// Its forces depend on one site more on either side than those of the level before.
  bool widens_stencil = false;

  bool same_kind(const LineLevel& other) const {
    return kicks == other.kicks && drifts == other.drifts && widens_stencil == other.widens_stencil;
  }
};

/// Those of `steps` steps of a splitting, in the place of what `levels` held: its memory is used again.
void make_levels(const ExplicitScheme& scheme, double h, int steps, std::vector<LineLevel>& levels);

/// Of the levels that are left, as many as a sweep with room for `depth` takes: as many, or one. They have to be of one
/// kind, but for the last one of all: that may end with its kicks. (Anywhere else further kicks could follow and see
/// one displacement more.)
std::size_t levels_per_sweep(std::span<const LineLevel> levels, std::size_t depth);

}  // namespace bathline
