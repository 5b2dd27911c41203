// A piece of a line taken through a splitting's kicks and drifts in cache.
#include "model/line/tile.hpp"

#include <algorithm>

#include "model/line/update.hpp"

namespace bathline {

namespace {

constexpr std::int64_t longest_part = LineTile::capacity / lanes;
static_assert(LineTile::capacity % (lanes * lanes) == 0);

/// Numbers that a level leaves behind: two of w and of p.
constexpr std::size_t left_behind_by_a_level = 4;

}  // namespace

LineTile::LineTile(double stiffness, double mass)
    : uniform_(true),
      stiffness_(stiffness),
      mass_(mass),
      w_(static_cast<std::size_t>(room_before + longest_part + room_behind)),
      p_(w_.size()) {
  left_behind_.reserve(left_behind_by_a_level * (furthest + 1));
}

LineTile::LineTile() : LineTile(1.0, 1.0) {
  uniform_ = false;
  spring_.resize(w_.size());
  inverse_mass_.resize(w_.size());
}

void LineTile::load(const double* w, const double* p, std::int64_t count) {
  parts_ = Parts(count, 2 * depth);
  moved_ = 0;
  parts_.spread(w, at_part(w_));
  parts_.spread(p, at_part(p_));
}

void LineTile::load_springs(const double* stiffness, const double* inverse_mass, std::int64_t before) {
  parts_.spread(stiffness, at_part(spring_));
  parts_.spread(inverse_mass, at_part(inverse_mass_));
  spread_before(spring_, stiffness, before);
  spread_before(inverse_mass_, inverse_mass, before);
}

/// What the parts will move into. What is not known is not needed: it goes on like the last that is.
void LineTile::spread_before(Field& field, const double* from, std::int64_t before) {
  Register* part = at_part(field);
  for (std::int64_t g = 1; g <= room_before; ++g) {
    for (int lane = 0; lane < lanes; ++lane) {
      part[-g].at[0][lane] = from[std::clamp(lane * parts_.part - g, -before, parts_.count - 1)];
    }
  }
}

void LineTile::store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
  parts_.collect(at_part(w_), offset, count, w);
  parts_.collect(at_part(p_), offset, count, p);
}

/// `width` registers before every part, from the end of the part before: that of the first is in the tile before.
/// Leaves behind as many numbers for the next tile, and returns where the next will be.
double* LineTile::take_over(Field& field, std::int64_t width, double* left_behind) {
  Register* part = at_part(field);
  for (std::int64_t g = 1; g <= width; ++g, ++left_behind) {
    const Lanes end = part[parts_.part - g].at[0];
    Lanes before = from_lane_before(end);
    before[0] = *left_behind;
    part[-g].at[0] = before;
    *left_behind = end[lanes - 1];
  }
  return left_behind;
}

void LineTile::advance(std::span<const LineLevel> levels, std::span<const std::span<const double>> ahead) {
  left_behind_.resize(left_behind_by_a_level * levels.size());
  if (uniform_) {
    sweep_all<true>(levels, ahead);
  } else {
    sweep_all<false>(levels, ahead);
  }
}

template <bool uniform>
void LineTile::sweep_all(std::span<const LineLevel> levels, std::span<const std::span<const double>> ahead) {
  const auto sweep_from = [&](std::size_t level) {
    const std::span<const LineLevel> rest = levels.subspan(level);
    double* const left_behind = left_behind_.data() + left_behind_by_a_level * level;
    switch (3 * rest.front().kicks + rest.front().drifts) {
      case 1:
        return sweep_some<uniform, 0, 1>(rest, left_behind);
      case 2:
        return sweep_some<uniform, 0, 2>(rest, left_behind);
      case 3:
        return sweep_some<uniform, 1, 0>(rest, left_behind);
      case 4:
        return sweep_some<uniform, 1, 1>(rest, left_behind);
      case 5:
        return sweep_some<uniform, 1, 2>(rest, left_behind);
      case 6:
        return sweep_some<uniform, 2, 0>(rest, left_behind);
      case 7:
        return sweep_some<uniform, 2, 1>(rest, left_behind);
      default:
        return sweep_some<uniform, 2, 2>(rest, left_behind);
    }
  };
  for (std::size_t level = 0, end = 0; level < levels.size(); level = end) {
    end = level + sweep_from(level);
    for (std::size_t share = level; share < end; ++share) fetch_share(ahead, share, levels.size());
  }
}

template <bool uniform, int kicks, int drifts>
std::size_t LineTile::sweep_some(std::span<const LineLevel> levels, double* left_behind) {
  if constexpr (kicks > 0 && drifts > 0) {
    if (levels.size() >= depth && std::all_of(levels.begin(), levels.begin() + depth, [&](const LineLevel& level) {
          return level.same_kind(levels.front());
        })) {
      sweep<uniform, depth, kicks, drifts>(levels, left_behind);
      return depth;
    }
  }
  sweep<uniform, 1, kicks, drifts>(levels, left_behind);
  return 1;
}

template <bool uniform, int at_once, int kicks, int drifts>
[[gnu::noinline]] void LineTile::sweep(std::span<const LineLevel> levels, double* left_behind) {
  left_behind = take_over(w_, 2 * at_once, left_behind);
  take_over(p_, 2 * at_once, left_behind);
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
  Register* w = at_part(w_);
  Register* p = at_part(p_);
  // A uniform line has none, and nothing may be added to a null pointer.
  const Register* spring = uniform ? nullptr : at_part(spring_);
  const Register* inverse_mass = uniform ? nullptr : at_part(inverse_mass_);
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
  const std::int64_t moves = levels.front().sees_more ? at_once : 0;
  for (std::int64_t j = -delay; j < parts_.part + delay - moves; j += at_a_time) {
#pragma GCC unroll 4
    for (int i = 0; i < at_a_time; ++i) turn(j + i);
  }
  moved_ += moves;
}

}  // namespace bathline
