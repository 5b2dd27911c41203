// Several levels of kicks and drifts in one pass through the registers, one site of every lane's part per iteration.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#pragma once

#include <span>
#include <type_traits>

#include "model/line/explicit/time_levels.hpp"
#include "model/line/lane_field.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// A row of sites in the layout of lane parts.
struct PartRow {
  const LaneRegister<1>* part;
  SimdDouble operator[](std::int64_t j) const { return part[j].value[0]; }
};

/// `level_count` levels with the same numbers of kicks and drifts, except for the drifts of the last one.
template <Sites S, int level_count, int kicks, int drifts, int last_drifts>
class LevelPipeline {
 public:
  /// Iterations from the first level to the last one for a site.
  static constexpr int delay = 2 * level_count;

  LevelPipeline(std::span<const LineLevel> levels, const S& sites) {
    for (int a = 0; a < level_count; ++a) {
      for (int i = 0; i < kicks; ++i) strength_[a][i] = splat(levels[a].kick[i] * sites.stiffness);
      for (int i = 0; i < drifts; ++i) step_[a][i] = splat(levels[a].drift[i] / sites.mass);
    }
  }

  /// Site j of every part enters the first level, and site j - delay leaves the last one. At every level the site
  /// before the entering one is kicked, and the one before that drifts and enters the next level, so that kick and
  /// drift are independent. The values of the first level are read from the fields.
  template <class RowsOfParts>
  [[gnu::always_inline]] void advance_site(const RowsOfParts& sites, LaneRegister<1>* w, LaneRegister<1>* p,
                                           std::int64_t j) {
    SimdDouble next_w = w[j].value[0], next_p = p[j].value[0];
#pragma GCC unroll 4
    for (int a = 0; a < level_count; ++a) {
      Level& level = level_[a];
      const SimdDouble here_w = a > 0 ? level.w : w[j - 1].value[0];
      SimdDouble kicked_p = a > 0 ? level.p : p[j - 1].value[0];
      const SimdDouble right = sites.pull(j - 2 * a, next_w - here_w);
      for (int i = 0; i < kicks; ++i) kicked_p = kicked(sites, here_w, kicked_p, strength_[a][i], level.left, right);
      SimdDouble moved_w = a > 0 ? level.kicked_w : w[j - 2].value[0], moved_p = level.kicked_p;
      for (int i = 0; i < (a + 1 < level_count ? drifts : last_drifts); ++i) {
        moved_w = drifted(moved_w, sites.per_mass(j - 2 * a - 2, step_[a][i]), moved_p);
      }
      level = {next_w, next_p, right, here_w, kicked_p};
      next_w = moved_w;
      next_p = moved_p;
    }
    w[j - delay].value[0] = next_w;
    p[j - delay].value[0] = next_p;
  }

 private:
  struct Level {
    SimdDouble w{}, p{}, left{}, kicked_w{}, kicked_p{};
  };

  Level level_[level_count];
  SimdDouble strength_[level_count][kicks > 0 ? kicks : 1], step_[level_count][drifts > 0 ? drifts : 1];
};

/// Calls `use` with a number from 0 to 2 as a compile-time constant.
template <class Use>
void with_constant(int number, Use use) {
  if (number == 0) use(std::integral_constant<int, 0>{});
  if (number == 1) use(std::integral_constant<int, 1>{});
  if (number == 2) use(std::integral_constant<int, 2>{});
}

/// Calls `use` with the numbers of levels, kicks, drifts and drifts of the last level as compile-time constants; the
/// number of levels is one or `depth`, as `levels_per_sweep` returns it.
template <int depth, class Use>
void with_level_counts(std::span<const LineLevel> levels, Use use) {
  with_constant(levels.front().kicks, [&](auto kicks) {
    with_constant(levels.front().drifts, [&](auto drifts) {
      if constexpr (depth > 1 && kicks > 0 && drifts > 0) {
        constexpr std::integral_constant<int, depth> all;
        if (levels.size() == depth && levels.back().drifts > 0) return use(all, kicks, drifts, drifts);
        if (levels.size() == depth) return use(all, kicks, drifts, std::integral_constant<int, 0>{});
      }
      use(std::integral_constant<int, 1>{}, kicks, drifts, drifts);
    });
  });
}

}  // namespace bathline
