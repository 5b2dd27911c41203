// A piece of a line advanced in cache by the kicks and drifts of a splitting.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#include "model/line/explicit/skewed_tile.hpp"

#include <algorithm>

#include "model/line/explicit/batch_sweep.hpp"
#include "simd/aligned_vector.hpp"

namespace bathline {

namespace {

constexpr std::int64_t max_part = tile_capacity / simd_width;
static_assert(tile_capacity % (simd_width * simd_width) == 0);

/// Values stored for the next tile per level: two of w and two of p.
constexpr std::size_t skew_values_per_level = 4;

}  // namespace

template <Sites S>
SkewedTile<S>::SkewedTile() : w_(static_cast<std::size_t>(room_before + max_part + room_behind)), p_(w_.size()) {
  for (Field& row : rows_) row.resize(w_.size());
  skew_buffer_.reserve(skew_values_per_level * (max_tile_shift + 1));
}

template <Sites S>
void SkewedTile<S>::load_rows(const Source& from) {
  int i = 0;
  for_each_row(from.sites, [&](const double* row) {
    Field& field = rows_[i++];
    parts_.pack(row, part_data(field));
    fill_before(field, row, from.rows_before);
  });
}

/// Fills the padding into which the parts shift. Unknown values are not used; they repeat the nearest known one.
template <Sites S>
void SkewedTile<S>::fill_before(Field& field, const double* from, std::int64_t before) {
  Register* part = part_data(field);
  for (std::int64_t g = 1; g <= room_before; ++g) {
    for (int lane = 0; lane < simd_width; ++lane) {
      part[-g].value[0][lane] = from[std::clamp(lane * parts_.part - g, -before, parts_.count - 1)];
    }
  }
}

/// Fills the `width` registers before every part from the end of the part before it, and those of the first part from
/// `skew_buffer`, where the end of the last part is stored for the next tile. Returns the position behind these values.
template <Sites S>
double* SkewedTile<S>::exchange_skew(Field& field, std::int64_t width, double* skew_buffer) {
  Register* part = part_data(field);
  for (std::int64_t g = 1; g <= width; ++g, ++skew_buffer) {
    const SimdDouble end = part[parts_.part - g].value[0];
    SimdDouble before = shift_lanes_up(end);
    before[0] = *skew_buffer;
    part[-g].value[0] = before;
    *skew_buffer = end[simd_width - 1];
  }
  return skew_buffer;
}

template <Sites S>
void SkewedTile<S>::advance(const Source& from, std::span<const LineLevel> levels, const Target& to) {
  skew_buffer_.resize(skew_values_per_level * levels.size());
  parts_ = Parts(from.count, 2 * depth);
  shift_ = 0;
  parts_.pack(from.w, part_data(w_));
  parts_.pack(from.p, part_data(p_));
  load_rows(from);
  sweep_all(from, levels);
  parts_.unpack(part_data(w_), to.offset, to.count, to.w);
  parts_.unpack(part_data(p_), to.offset, to.count, to.p);
}

template <Sites S>
void SkewedTile<S>::sweep_all(const Source& from, std::span<const LineLevel> levels) {
  std::array<const double*, 2 + S::rows> arrays = {from.w, from.p};
  int array_count = 2;
  for_each_row(from.sites, [&](const double* row) { arrays[array_count++] = row; });
  // Every level prefetches an equal part of the arrays.
  const auto count = static_cast<std::int64_t>(levels.size());
  const std::int64_t prefetched_per_level = (array_count * from.ahead + count - 1) / count;
  const std::int64_t iterations = (parts_.part + sites_per_iteration - 1) / sites_per_iteration;
  const std::int64_t step = std::min<std::int64_t>(cache_line_bytes / sizeof(double),
                                                   (depth * prefetched_per_level + iterations - 1) / iterations);
  for (std::size_t level = 0, end = 0; level < levels.size(); level = end) {
    end = level + levels_per_sweep(levels.subspan(level), depth);
    Sweep sweep{.levels = levels.subspan(level, end - level),
                .sites = from.sites,
                .skew_buffer = skew_buffer_.data() + skew_values_per_level * level,
                .fetched = from.w,
                .fetched_step = 0};
    std::int64_t ahead = prefetched_per_level * static_cast<std::int64_t>(level);
    int array = 0;
    for (; array < array_count && ahead >= from.ahead; ++array) ahead -= from.ahead;
    if (array < array_count) {
      sweep.fetched = arrays[array] + (from.count + ahead);
      sweep.fetched_step = step;
    }
    with_level_counts<depth>(sweep.levels, [&](auto level_count, auto kicks, auto drifts, auto last_drifts) {
      run<level_count, kicks, drifts, last_drifts>(sweep);
    });
  }
}

template <Sites S>
template <int level_count, int kicks, int drifts, int last_drifts>
[[gnu::noinline]] void SkewedTile<S>::run(const Sweep& sweep) {
  using Pipeline = LevelPipeline<S, level_count, kicks, drifts, last_drifts>;
  constexpr int delay = Pipeline::delay;
  double* skew_buffer = exchange_skew(w_, delay, sweep.skew_buffer);
  exchange_skew(p_, delay, skew_buffer);
  Register* w = part_data(w_);
  Register* p = part_data(p_);
  int row = 0;
  const auto sites = sweep.sites.mapped([&](const double*) { return PartRow{part_data(rows_[row++])}; });
  const std::int64_t shift = sweep.levels.front().widens_stencil ? level_count : 0;
  shift_ += shift;
  if constexpr (evaluates_batches<S>) {
    return sweep_in_batches(sites, sweep.levels.front(), w, p, -delay, parts_.part + delay - shift);
  }
  Pipeline pipeline(sweep.levels, sweep.sites);
  const double* fetched = sweep.fetched;
  for (std::int64_t j = -delay; j < parts_.part + delay - shift; j += sites_per_iteration) {
#pragma GCC unroll 8
    for (int i = 0; i < sites_per_iteration; ++i) pipeline.advance_site(sites, w, p, j + i);
    __builtin_prefetch(fetched);
    fetched += sweep.fetched_step;
  }
}

#define BATHLINE_INSTANTIATE(...) template class SkewedTile<__VA_ARGS__>
BATHLINE_FOR_ALL_SITES(BATHLINE_INSTANTIATE);
#undef BATHLINE_INSTANTIATE

}  // namespace bathline
