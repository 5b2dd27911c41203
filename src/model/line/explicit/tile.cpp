// A piece of a line taken through a splitting's kicks and drifts in cache.
// Tested by tests/model/line/explicit/march_test.cpp.
#include "model/line/explicit/tile.hpp"

#include <algorithm>

#include "parallel/cache_lines.hpp"

namespace bathline {

namespace {

constexpr std::int64_t longest_part = tile_capacity / lanes;
static_assert(tile_capacity % (lanes * lanes) == 0);

/// Numbers that a level leaves behind: two of w and of p.
constexpr std::size_t left_behind_by_a_level = 4;

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
    end = level + levels_at_once(levels.subspan(level), depth);
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
    with_kinds_of<depth>(sweep.levels, [&](auto at_once, auto kicks, auto drifts, auto last_drifts) {
      run<at_once, kicks, drifts, last_drifts>(sweep);
    });
  }
}

template <Sites S>
template <int at_once, int kicks, int drifts, int last_drifts>
[[gnu::noinline]] void LineTile<S>::run(const Sweep& sweep) {
  LevelPipeline<S, at_once, kicks, drifts, last_drifts> pipeline(sweep.levels, sweep.sites);
  constexpr int delay = pipeline.delay;
  double* left_behind = take_over(w_, delay, sweep.left_behind);
  take_over(p_, delay, left_behind);
  Register* w = at_part(w_);
  Register* p = at_part(p_);
  int row = 0;
  const auto sites = sweep.sites.mapped([&](const double*) { return PartRow{at_part(rows_[row++])}; });
  const std::int64_t moves = sweep.levels.front().sees_more ? at_once : 0;
  const double* fetched = sweep.fetched;
  for (std::int64_t j = -delay; j < parts_.part + delay - moves; j += at_a_time) {
#pragma GCC unroll 8
    for (int i = 0; i < at_a_time; ++i) pipeline.turn(sites, w, p, j + i);
    __builtin_prefetch(fetched);
    fetched += sweep.fetched_step;
  }
  moved_ += moves;
}

template class LineTile<EqualSites>;
template class LineTile<UnequalSites<>>;

}  // namespace bathline
