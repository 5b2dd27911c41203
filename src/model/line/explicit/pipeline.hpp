// Levels of kicks and drifts that pass through the registers at once, a site of every lane's part at a turn.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#pragma once

#include <span>
#include <type_traits>

#include "model/line/explicit/time_levels.hpp"
#include "model/line/lane_field.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// A row of the sites as the parts of the lanes have it.
struct PartRow {
  const LaneRegister<1>* part;
  SimdDouble operator[](std::int64_t j) const { return part[j].at[0]; }
};

/// `at_once` levels of one kind, but for the drifts of the last.
template <Sites S, int at_once, int kicks, int drifts, int last_drifts>
class LevelPipeline {
 public:
  /// Turns between the arrival of a site and its departure.
  static constexpr int delay = 2 * at_once;

  LevelPipeline(std::span<const LineLevel> levels, const S& sites) {
    for (int a = 0; a < at_once; ++a) {
      for (int i = 0; i < kicks; ++i) strength_[a][i] = splat(levels[a].kick[i] * sites.stiffness);
      for (int i = 0; i < drifts; ++i) step_[a][i] = splat(levels[a].drift[i] / sites.mass);
    }
  }

  /// Site j of every part arrives at the first level, and site j - delay leaves the last one. At every level the site
  /// before the arriving one is kicked, and the one before that drifts and arrives at the next level: kick and drift
  /// need not wait for each other. What the first level holds is in the fields as well.
  template <class RowsOfParts>
  [[gnu::always_inline]] void turn(const RowsOfParts& sites, LaneRegister<1>* w, LaneRegister<1>* p, std::int64_t j) {
    SimdDouble next_w = w[j].at[0], next_p = p[j].at[0];
#pragma GCC unroll 4
    for (int a = 0; a < at_once; ++a) {
      Level& level = at_[a];
      const SimdDouble here_w = a > 0 ? level.w : w[j - 1].at[0];
      SimdDouble kicked_p = a > 0 ? level.p : p[j - 1].at[0];
      const SimdDouble right = sites.pull(j - 2 * a, next_w - here_w);
      for (int i = 0; i < kicks; ++i) kicked_p = kicked(kicked_p, strength_[a][i], level.left, right);
      SimdDouble moved_w = a > 0 ? level.kicked_w : w[j - 2].at[0], moved_p = level.kicked_p;
      for (int i = 0; i < (a + 1 < at_once ? drifts : last_drifts); ++i) {
        moved_w = drifted(moved_w, sites.per_mass(j - 2 * a - 2, step_[a][i]), moved_p);
      }
      level = {next_w, next_p, right, here_w, kicked_p};
      next_w = moved_w;
      next_p = moved_p;
    }
    w[j - delay].at[0] = next_w;
    p[j - delay].at[0] = next_p;
  }

 private:
  struct Level {
    SimdDouble w{}, p{}, left{}, kicked_w{}, kicked_p{};
  };

  Level at_[at_once];
  SimdDouble strength_[at_once][kicks > 0 ? kicks : 1], step_[at_once][drifts > 0 ? drifts : 1];
};

/// `use` with a number from 0 to 2 as a type.
template <class Use>
void with_constant(int number, Use use) {
  if (number == 0) use(std::integral_constant<int, 0>{});
  if (number == 1) use(std::integral_constant<int, 1>{});
  if (number == 2) use(std::integral_constant<int, 2>{});
}

/// `use` with the numbers of levels, kicks, drifts and drifts of the last level as types, where there are one or
/// `depth` levels as `levels_per_sweep` found them.
template <int depth, class Use>
void with_kinds_of(std::span<const LineLevel> levels, Use use) {
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
