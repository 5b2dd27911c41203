// The kicks and drifts of a block of steps, grouped into levels.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#include "model/line/explicit/time_levels.hpp"

namespace bathline {

void make_levels(const ExplicitScheme& scheme, double h, int steps, std::vector<LineLevel>& levels) {
  levels.clear();
  for (int step = 0; step < steps; ++step) {
    for (const Substep& substep : scheme.substeps) {
      const bool kicks = substep.kind == Substep::Kind::kick;
      const bool fits =
          !levels.empty() && (kicks ? levels.back().kicks < 2 && levels.back().drifts == 0 : levels.back().drifts < 2);
      if (!fits) levels.push_back({.widens_stencil = kicks && (levels.empty() || levels.back().drifts > 0)});
      LineLevel& level = levels.back();
      if (kicks) {
        level.kick[level.kicks++] = substep.weight * h;
      } else {
        level.drift[level.drifts++] = substep.weight * h;
      }
    }
  }
}

std::size_t levels_per_sweep(std::span<const LineLevel> levels, std::size_t depth) {
  const LineLevel& first = levels.front();
  if (first.kicks == 0 || first.drifts == 0 || levels.size() < depth) return 1;
  for (const LineLevel& level : levels.first(depth - 1)) {
    if (!level.has_same_shape(first)) return 1;
  }
  LineLevel last = levels[depth - 1];
  if (levels.size() == depth && last.drifts == 0) last.drifts = first.drifts;
  return last.has_same_shape(first) ? depth : 1;
}

}  // namespace bathline
