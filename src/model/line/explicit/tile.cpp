// A piece of a line taken through a splitting's kicks and drifts in cache.
// Tested by tests/model/line/explicit/march_test.cpp.
#include "model/line/explicit/tile.hpp"

#include <algorithm>
#include <type_traits>

#include "parallel/cache_lines.hpp"

namespace bathline {

namespace {

constexpr std::int64_t longest_part = tile_capacity / lanes;
static_assert(tile_capacity % (lanes * lanes) == 0);

/// Numbers that a level leaves behind: two of w and of p.
constexpr std::size_t left_behind_by_a_level = 4;

/// `use` with a number from 0 to 2 as a type.
template <class Use>
void with_constant(int number, Use use) {
  if (number == 0) use(std::integral_constant<int, 0>{});
  if (number == 1) use(std::integral_constant<int, 1>{});
  if (number == 2) use(std::integral_constant<int, 2>{});
}

}  // namespace

template <Sites S>
LineTile<S>::LineTile() : w_(static_cast<std::size_t>(room_before + longest_part + room_behind)), p_(w_.size()) {
  for (Field& row : rows_) row.resize(w_.size());
  left_behind_.reserve(left_behind_by_a_level * (furthest_of_tiles + 1));
}

template <Sites S>
void LineTile<S>::load_rows(const Source& from) {
  int i = 0;
  for_each_row(from.sites, [&](const double* row) {
    Field& field = rows_[i++];
    parts_.spread(row, at_part(field));
    spread_before(field, row, from.known_before);
  });
}

/// What the parts will move into. What is not known is not needed: it goes on like the last that is.
template <Sites S>
void LineTile<S>::spread_before(Field& field, const double* from, std::int64_t before) {
  Register* part = at_part(field);
  for (std::int64_t g = 1; g <= room_before; ++g) {
    for (int lane = 0; lane < lanes; ++lane) {
      part[-g].at[0][lane] = from[std::clamp(lane * parts_.part - g, -before, parts_.count - 1)];
    }
  }
}

/// `width` registers before every part, from the end of the part before: that of the first is in the tile before.
/// Leaves behind as many numbers for the next tile, and returns where the next will be.
template <Sites S>
double* LineTile<S>::take_over(Field& field, std::int64_t width, double* left_behind) {
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

template <Sites S>
void LineTile<S>::advance(const Source& from, std::span<const LineLevel> levels, const Target& to) {
  left_behind_.resize(left_behind_by_a_level * levels.size());
  parts_ = Parts(from.count, 2 * depth);
  moved_ = 0;
  parts_.spread(from.w, at_part(w_));
  parts_.spread(from.p, at_part(p_));
  load_rows(from);
  sweep_all(from, levels);
  parts_.collect(at_part(w_), to.offset, to.count, to.w);
  parts_.collect(at_part(p_), to.offset, to.count, to.p);
}

/// Of the levels that are left, as many as the next sweep takes. They have to be of one kind, but for the last one of
/// all: that may end with its kicks. (Anywhere else further kicks could follow and see one displacement more.)
template <Sites S>
std::size_t LineTile<S>::at_once(std::span<const LineLevel> levels) {
  const LineLevel& first = levels.front();
  if (first.kicks == 0 || first.drifts == 0 || levels.size() < depth) return 1;
  for (const LineLevel& level : levels.first(depth - 1)) {
    if (!level.same_kind(first)) return 1;
  }
  LineLevel last = levels[depth - 1];
  if (levels.size() == depth && last.drifts == 0) last.drifts = first.drifts;
  return last.same_kind(first) ? depth : 1;
}

template <Sites S>
void LineTile<S>::sweep_all(const Source& from, std::span<const LineLevel> levels) {
  std::array<const double*, 2 + S::rows> arrays = {from.w, from.p};
  int number = 2;
  for_each_row(from.sites, [&](const double* row) { arrays[number++] = row; });
  // What a level fetches of the arrays, one after the other.
  const auto count = static_cast<std::int64_t>(levels.size());
  const std::int64_t share = (number * from.ahead + count - 1) / count;
  const std::int64_t turns = (parts_.part + at_a_time - 1) / at_a_time;
  const std::int64_t step = std::min<std::int64_t>(cache_line / sizeof(double), (depth * share + turns - 1) / turns);
  for (std::size_t level = 0, end = 0; level < levels.size(); level = end) {
    end = level + at_once(levels.subspan(level));
    Sweep sweep{.levels = levels.subspan(level, end - level),
                .sites = from.sites,
                .left_behind = left_behind_.data() + left_behind_by_a_level * level,
                .fetched = from.w,
                .fetched_step = 0};
    std::int64_t ahead = share * static_cast<std::int64_t>(level);
    int array = 0;
    for (; array < number && ahead >= from.ahead; ++array) ahead -= from.ahead;
    if (array < number) {
      sweep.fetched = arrays[array] + (from.count + ahead);
      sweep.fetched_step = step;
    }
    const LineLevel& first = levels[level];
    with_constant(first.kicks, [&](auto kicks) {
      with_constant(first.drifts, [&](auto drifts) {
        if constexpr (kicks > 0 && drifts > 0) {
          if (end == level + depth && levels[end - 1].drifts > 0) return run<depth, kicks, drifts, drifts>(sweep);
          if (end == level + depth) return run<depth, kicks, drifts, 0>(sweep);
        }
        run<1, kicks, drifts, drifts>(sweep);
      });
    });
  }
}

template <Sites S>
template <int at_once, int kicks, int drifts, int last_drifts>
[[gnu::noinline]] void LineTile<S>::run(const Sweep& sweep) {
  constexpr int delay = 2 * at_once;
  double* left_behind = take_over(w_, delay, sweep.left_behind);
  take_over(p_, delay, left_behind);
  const std::span<const LineLevel> levels = sweep.levels;
  Lanes strength[at_once][kicks > 0 ? kicks : 1], step[at_once][drifts > 0 ? drifts : 1];
  for (int a = 0; a < at_once; ++a) {
    for (int i = 0; i < kicks; ++i) strength[a][i] = everywhere(levels[a].kick[i] * sweep.sites.stiffness);
    for (int i = 0; i < drifts; ++i) step[a][i] = everywhere(levels[a].drift[i] / sweep.sites.mass);
  }
  // At every turn a site arrives at each level, the one before it is kicked, and the one before that drifts and arrives
  // at the next level: kick and drift need not wait for each other. What the first level holds is in the field as well.
  struct Level {
    Lanes w{}, p{}, left{}, kicked_w{}, kicked_p{};
  } at[at_once];
  Register* w = at_part(w_);
  Register* p = at_part(p_);
  int row = 0;
  const auto sites = sweep.sites.mapped([&](const double*) { return PartRow{at_part(rows_[row++])}; });
  const auto turn = [&](std::int64_t j) __attribute__((always_inline)) {
    Lanes next_w = w[j].at[0], next_p = p[j].at[0];
#pragma GCC unroll 4
    for (int a = 0; a < at_once; ++a) {
      Level& level = at[a];
      const Lanes here_w = a > 0 ? level.w : w[j - 1].at[0];
      Lanes kicked_p = a > 0 ? level.p : p[j - 1].at[0];
      const Lanes right = sites.pull(j - 2 * a, next_w - here_w);
      for (int i = 0; i < kicks; ++i) kicked_p = kicked(kicked_p, strength[a][i], level.left, right);
      Lanes moved_w = a > 0 ? level.kicked_w : w[j - 2].at[0], moved_p = level.kicked_p;
      for (int i = 0; i < (a + 1 < at_once ? drifts : last_drifts); ++i) {
        moved_w = drifted(moved_w, sites.per_mass(j - 2 * a - 2, step[a][i]), moved_p);
      }
      level = {next_w, next_p, right, here_w, kicked_p};
      next_w = moved_w;
      next_p = moved_p;
    }
    w[j - delay].at[0] = next_w;
    p[j - delay].at[0] = next_p;
  };
  const std::int64_t moves = levels.front().sees_more ? at_once : 0;
  const double* fetched = sweep.fetched;
  for (std::int64_t j = -delay; j < parts_.part + delay - moves; j += at_a_time) {
#pragma GCC unroll 8
    for (int i = 0; i < at_a_time; ++i) turn(j + i);
    __builtin_prefetch(fetched);
    fetched += sweep.fetched_step;
  }
  moved_ += moves;
}

template class LineTile<EqualSites>;
template class LineTile<UnequalSites<>>;

}  // namespace bathline
