// A piece of a line taken through a splitting's kicks and drifts in cache.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#include "model/line/explicit/skewed_tile.hpp"

#include <algorithm>

#include "simd/aligned_vector.hpp"

namespace bathline {

namespace {

constexpr std::int64_t longest_part = tile_capacity / simd_width;
static_assert(tile_capacity % (simd_width * simd_width) == 0);

/// Numbers that a level leaves behind: two of w and of p.
constexpr std::size_t skew_rows_per_level = 4;

}  // namespace

template <Sites S>
SkewedTile<S>::SkewedTile() : w_(static_cast<std::size_t>(room_before + longest_part + room_behind)), p_(w_.size()) {
  for (Field& row : rows_) row.resize(w_.size());
  skew_buffer_.reserve(skew_rows_per_level * (furthest_of_tiles + 1));
}

template <Sites S>
void SkewedTile<S>::load_rows(const Source& from) {
  int i = 0;
  for_each_row(from.sites, [&](const double* row) {
    Field& field = rows_[i++];
    parts_.pack(row, at_part(field));
    spread_before(field, row, from.known_before);
  });
}

/// What the parts will move into. What is not known is not needed: it goes on like the last that is.
template <Sites S>
void SkewedTile<S>::spread_before(Field& field, const double* from, std::int64_t before) {
  Register* part = at_part(field);
  for (std::int64_t g = 1; g <= room_before; ++g) {
    for (int lane = 0; lane < simd_width; ++lane) {
      part[-g].at[0][lane] = from[std::clamp(lane * parts_.part - g, -before, parts_.count - 1)];
    }
  }
}

/// `width` registers before every part, from the end of the part before: that of the first is in the tile before.
/// Leaves behind as many numbers for the next tile, and returns where the next will be.
template <Sites S>
double* SkewedTile<S>::take_over(Field& field, std::int64_t width, double* skew_buffer) {
  Register* part = at_part(field);
  for (std::int64_t g = 1; g <= width; ++g, ++skew_buffer) {
    const SimdDouble end = part[parts_.part - g].at[0];
    SimdDouble before = shift_lanes_up(end);
    before[0] = *skew_buffer;
    part[-g].at[0] = before;
    *skew_buffer = end[simd_width - 1];
  }
  return skew_buffer;
}

template <Sites S>
void SkewedTile<S>::advance(const Source& from, std::span<const LineLevel> levels, const Target& to) {
  skew_buffer_.resize(skew_rows_per_level * levels.size());
  parts_ = Parts(from.count, 2 * depth);
  shift_ = 0;
  parts_.pack(from.w, at_part(w_));
  parts_.pack(from.p, at_part(p_));
  load_rows(from);
  sweep_all(from, levels);
  parts_.unpack(at_part(w_), to.offset, to.count, to.w);
  parts_.unpack(at_part(p_), to.offset, to.count, to.p);
}

template <Sites S>
void SkewedTile<S>::sweep_all(const Source& from, std::span<const LineLevel> levels) {
  std::array<const double*, 2 + S::rows> arrays = {from.w, from.p};
  int number = 2;
  for_each_row(from.sites, [&](const double* row) { arrays[number++] = row; });
  // What a level fetches of the arrays, one after the other.
  const auto count = static_cast<std::int64_t>(levels.size());
  const std::int64_t share = (number * from.ahead + count - 1) / count;
  const std::int64_t turns = (parts_.part + at_a_time - 1) / at_a_time;
  const std::int64_t step =
      std::min<std::int64_t>(cache_line_bytes / sizeof(double), (depth * share + turns - 1) / turns);
  for (std::size_t level = 0, end = 0; level < levels.size(); level = end) {
    end = level + levels_per_sweep(levels.subspan(level), depth);
    Sweep sweep{.levels = levels.subspan(level, end - level),
                .sites = from.sites,
                .skew_buffer = skew_buffer_.data() + skew_rows_per_level * level,
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
[[gnu::noinline]] void SkewedTile<S>::run(const Sweep& sweep) {
  LevelPipeline<S, at_once, kicks, drifts, last_drifts> pipeline(sweep.levels, sweep.sites);
  constexpr int delay = pipeline.delay;
  double* skew_buffer = take_over(w_, delay, sweep.skew_buffer);
  take_over(p_, delay, skew_buffer);
  Register* w = at_part(w_);
  Register* p = at_part(p_);
  int row = 0;
  const auto sites = sweep.sites.mapped([&](const double*) { return PartRow{at_part(rows_[row++])}; });
  const std::int64_t moves = sweep.levels.front().widens_stencil ? at_once : 0;
  const double* fetched = sweep.fetched;
  for (std::int64_t j = -delay; j < parts_.part + delay - moves; j += at_a_time) {
#pragma GCC unroll 8
    for (int i = 0; i < at_a_time; ++i) pipeline.turn(sites, w, p, j + i);
    __builtin_prefetch(fetched);
    fetched += sweep.fetched_step;
  }
  shift_ += moves;
}

template class SkewedTile<UniformSites>;
template class SkewedTile<NonuniformSites<>>;

}  // namespace bathline
