// A piece of a line taken through a splitting's kicks and drifts in cache.
#include "model/line/tile.hpp"

#include <algorithm>

#include "model/line/update.hpp"

namespace bathline {

namespace {

constexpr std::int64_t longest_part = LineTile::capacity / lanes;
static_assert(LineTile::capacity % (lanes * lanes) == 0);

}  // namespace

LineTile::LineTile(double stiffness, double mass)
    : uniform_(true), stiffness_(stiffness), mass_(mass), w_(longest_part + 2 * margin), p_(w_.size()) {}

LineTile::LineTile()
    : uniform_(false), w_(longest_part + 2 * margin), p_(w_.size()), spring_(w_.size()), inverse_mass_(w_.size()) {}

void LineTile::load(const double* w, const double* p, std::int64_t count) {
  parts_ = Parts(count, depth);
  parts_.spread(w, inside(w_));
  parts_.spread(p, inside(p_));
}

void LineTile::load_springs(const double* stiffness, const double* inverse_mass) {
  parts_.spread(stiffness, inside(spring_));
  parts_.spread(inverse_mass, inside(inverse_mass_));
  copy_over_ends(spring_, margin);
  copy_over_ends(inverse_mass_, margin);
}

void LineTile::store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
  parts_.collect(inside(w_), offset, count, w);
  parts_.collect(inside(p_), offset, count, p);
}

/// `width` registers on either side, from the neighbouring lanes' parts; a part may be shorter than that.
void LineTile::copy_over_ends(Field& field, std::int64_t width) const {
  Register* part = inside(field);
  for (std::int64_t g = 0; g < width; ++g) {
    part[-1 - g].at[0] = from_lane_before(part[parts_.part - 1 - g].at[0]);
    part[parts_.part + g].at[0] = from_lane_behind(part[g].at[0]);
  }
}

void LineTile::advance(std::span<const LineLevel> levels, std::span<const std::span<const double>> ahead) {
  if (uniform_) {
    sweep_all<true>(levels, ahead);
  } else {
    sweep_all<false>(levels, ahead);
  }
}

template <bool uniform>
void LineTile::sweep_all(std::span<const LineLevel> levels, std::span<const std::span<const double>> ahead) {
  constexpr std::size_t cache_line = 8;  // numbers
  const std::size_t all = levels.size();
  std::size_t fetched = 0;
  while (!levels.empty()) {
    const LineLevel& first = levels.front();
    std::size_t done = 1;
    switch (3 * first.kicks + first.drifts) {
      case 1:
        done = sweep_some<uniform, 0, 1>(levels);
        break;
      case 2:
        done = sweep_some<uniform, 0, 2>(levels);
        break;
      case 3:
        done = sweep_some<uniform, 1, 0>(levels);
        break;
      case 4:
        done = sweep_some<uniform, 1, 1>(levels);
        break;
      case 5:
        done = sweep_some<uniform, 1, 2>(levels);
        break;
      case 6:
        done = sweep_some<uniform, 2, 0>(levels);
        break;
      case 7:
        done = sweep_some<uniform, 2, 1>(levels);
        break;
      case 8:
        done = sweep_some<uniform, 2, 2>(levels);
        break;
    }
    levels = levels.subspan(done);
    const std::size_t share = all - levels.size();
    std::size_t end = fetched;
    for (const std::span<const double> field : ahead) {
      end = field.size() * share / all;
      for (std::size_t i = fetched; i < end; i += cache_line) __builtin_prefetch(field.data() + i, 0, 2);
    }
    fetched = end;
  }
}

template <bool uniform, int kicks, int drifts>
std::size_t LineTile::sweep_some(std::span<const LineLevel> levels) {
  if constexpr (kicks > 0 && drifts > 0) {
    if (levels.size() >= depth && std::all_of(levels.begin(), levels.begin() + depth, [&](const LineLevel& level) {
          return level.same_kind(levels.front());
        })) {
      sweep<uniform, depth, kicks, drifts>(levels);
      return depth;
    }
  }
  sweep<uniform, 1, kicks, drifts>(levels);
  return 1;
}

template <bool uniform, int at_once, int kicks, int drifts>
[[gnu::noinline]] void LineTile::sweep(std::span<const LineLevel> levels) {
  copy_over_ends(w_, at_once);
  copy_over_ends(p_, at_once);
  Lanes strength[at_once][kicks > 0 ? kicks : 1], rate[at_once][drifts > 0 ? drifts : 1];
  for (int a = 0; a < at_once; ++a) {
    for (int i = 0; i < kicks; ++i) strength[a][i] = everywhere(levels[a].kick[i] * (uniform ? stiffness_ : 1.0));
    for (int i = 0; i < drifts; ++i) rate[a][i] = everywhere(uniform ? levels[a].drift[i] / mass_ : levels[a].drift[i]);
  }
  // At every turn a site arrives at each level, the one before it is kicked, and the one before that drifts and arrives
  // at the next level: kick and drift need not wait for each other. What the first level holds is in the field as well.
  struct Level {
    Lanes w{}, p{}, left{}, kicked_w{}, kicked_p{};
  } at[at_once];
  Register* w = inside(w_);
  Register* p = inside(p_);
  const Register* spring = inside(spring_);
  const Register* inverse_mass = inside(inverse_mass_);
  constexpr int delay = 2 * at_once;
  const auto turn = [&](std::int64_t j) __attribute__((always_inline)) {
    Lanes next_w = w[j].at[0], next_p = p[j].at[0];
#pragma GCC unroll 4
    for (int a = 0; a < at_once; ++a) {
      Level& level = at[a];
      const Lanes here_w = a > 0 ? level.w : w[j - 1].at[0];
      Lanes kicked_p = a > 0 ? level.p : p[j - 1].at[0];
      Lanes right = next_w - here_w;
      if constexpr (!uniform) right *= spring[j - 2 * a].at[0];
      for (int i = 0; i < kicks; ++i) kicked_p = kicked(kicked_p, strength[a][i], level.left, right);
      Lanes moved_w = a > 0 ? level.kicked_w : w[j - 2].at[0], moved_p = level.kicked_p;
      for (int i = 0; i < drifts; ++i) {
        if constexpr (uniform) {
          moved_w = drifted(moved_w, rate[a][i], moved_p);
        } else {
          moved_w = drifted(moved_w, rate[a][i] * inverse_mass[j - 2 * a - 2].at[0], moved_p);
        }
      }
      level = {next_w, next_p, right, here_w, kicked_p};
      next_w = moved_w;
      next_p = moved_p;
    }
    w[j - delay].at[0] = next_w;
    p[j - delay].at[0] = next_p;
  };
  // Two turns at a time, so that what one leaves for the next need not be moved between registers. The last may be one
  // too many, which spoils nothing but a copy of what lies beyond the end.
  for (std::int64_t j = -at_once; j < parts_.part + delay; j += 2) {
    turn(j);
    turn(j + 1);
  }
}

}  // namespace bathline
