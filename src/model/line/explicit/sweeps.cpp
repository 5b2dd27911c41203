// The kicks and drifts of a block of steps in the order in which a tile of a line is swept.
// Tested by tests/model/line/explicit/march_test.cpp.
#include "model/line/explicit/sweeps.hpp"

namespace bathline {

void LineSweeps::set(const ExplicitScheme& scheme, double h, int steps) {
  if (steps == steps_ && h == h_ && scheme == scheme_) return;
  if (scheme != scheme_) scheme_ = scheme;
  h_ = h;
  steps_ = steps;
  levels_.clear();
  for (int step = 0; step < steps; ++step) {
    for (const Substep& substep : scheme.substeps) {
      const bool kicks = substep.kind == Substep::Kind::kick;
      const bool fits = !levels_.empty() &&
                        (kicks ? levels_.back().kicks < 2 && levels_.back().drifts == 0 : levels_.back().drifts < 2);
      if (!fits) levels_.push_back({.sees_more = kicks && (levels_.empty() || levels_.back().drifts > 0)});
      LineLevel& level = levels_.back();
      if (kicks) {
        level.kick[level.kicks++] = substep.weight * h;
      } else {
        level.drift[level.drifts++] = substep.weight * h;
      }
    }
  }
}

}  // namespace bathline
