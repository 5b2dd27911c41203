// A whole line in cache, for one axis.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#include "model/line/explicit/lane_partitioned_line.hpp"

#include <algorithm>

#include "model/line/explicit/batch_sweep.hpp"
#include "model/line/explicit/pipeline.hpp"

namespace bathline {

template <Sites S>
LanePartitionedLine<S>::LanePartitionedLine(const LineConstants& line, std::int64_t count)
    : far_end_(line.far_end),
      shared_(line.shared),
      parts_(count, max_end_sites),
      depth_(depth_for(count)),
      w_(static_cast<std::size_t>(parts_.part + 2 * room)),
      p_(w_.size()) {
  for (Field& row : rows_) row.resize(w_.size());
}

template <Sites S>
void LanePartitionedLine<S>::load(const S& sites, const double* w, const double* p) {
  sites_ = sites;
  if (!has_rows_) load_rows(sites);
  has_rows_ = true;
  parts_.pack(w, part_data(w_));
  parts_.pack(p, part_data(p_));
}

template <Sites S>
void LanePartitionedLine<S>::store(double* w, double* p) const {
  parts_.unpack(part_data(w_), 0, parts_.count, w);
  parts_.unpack(part_data(p_), 0, parts_.count, p);
}

/// Behind the far end the sites are the mirror image: about the site behind the last one for a fixed end, and half a
/// site before that for a free end. The index of a mirrored spring is one higher than that of a mirrored site. The rows
/// of a joined line continue with those of the other strand.
template <Sites S>
void LanePartitionedLine<S>::load_rows(const S& sites) {
  const std::int64_t count = parts_.count;
  const std::int64_t mirror = far_end_ == FarEnd::fixed ? 2 * count : 2 * count - 1;
  int number = 0;
  for_each_row(sites, [&](const double* row) {
    const bool is_of_springs = number < S::spring_rows;
    Register* part = part_data(rows_[number++]);
    const std::int64_t last = far_end_ == FarEnd::joined                   ? count - 1 + joined_rows
                              : is_of_springs && far_end_ == FarEnd::fixed ? count
                                                                           : count - 1;
    for (std::int64_t j = -room; j < parts_.part + room; ++j) {
      for (int lane = 0; lane < simd_width; ++lane) {
        std::int64_t site = lane * parts_.part + j;
        if (site > last) site = mirror + (is_of_springs ? 1 : 0) - site;
        part[j].value[0][lane] = row[std::clamp<std::int64_t>(site, 0, last)];
      }
    }
  });
}

template <Sites S>
void LanePartitionedLine<S>::copy_neighbours(Field& field, int levels, const Field& other) const {
  Register* part = part_data(field);
  for (int g = 1; g <= levels; ++g) part[-g].value[0] = shift_lanes_up(part[parts_.part - g].value[0]);
  for (int g = 0; g < levels; ++g) part[parts_.part + g].value[0] = shift_lanes_down(part[g].value[0]);
  // The last lane has no lane behind it, and may have fewer sites.
  const std::int64_t end = parts_.count - (simd_width - 1) * parts_.part;
  const std::int64_t behind = std::max<std::int64_t>(levels, parts_.part - end);
  const Register* const joined = part_data(other) - shared_;
  for (std::int64_t g = 0; g < behind; ++g) {
    SimdDouble image = far_end_ == FarEnd::joined ? joined[end - 1 - g].value[0] : part[end - 1 - g].value[0];
    if (far_end_ == FarEnd::fixed) image = g > 0 ? -part[end - g].value[0] : SimdDouble{};
    part[end + g].value[0][simd_width - 1] = image[simd_width - 1];
  }
}

template <Sites S>
void LanePartitionedLine<S>::copy_neighbours(std::size_t levels, const LanePartitionedLine& other) {
  copy_neighbours(w_, static_cast<int>(levels), other.w_);
  copy_neighbours(p_, static_cast<int>(levels), other.p_);
}

template <Sites S>
double LanePartitionedLine<S>::behind_last(const LanePartitionedLine& other) const {
  if (far_end_ == FarEnd::fixed) return 0.0;
  const std::int64_t last = parts_.count - (simd_width - 1) * parts_.part - 1;
  return part_data(other.w_)[last - shared_].value[0][simd_width - 1];
}

template <Sites S>
void LanePartitionedLine<S>::advance(std::span<const LineLevel> levels) {
  const auto run_levels = [&](auto level_count, auto kicks, auto drifts, auto last_drifts) {
    run<level_count, kicks, drifts, last_drifts>(levels);
  };
  if (levels.size() == depth) {
    with_level_counts<depth>(levels, run_levels);
  } else {
    with_level_counts<short_depth>(levels, run_levels);
  }
}

template <Sites S>
template <int level_count, int kicks, int drifts, int last_drifts>
[[gnu::noinline]] void LanePartitionedLine<S>::run(std::span<const LineLevel> levels) {
  using Pipeline = LevelPipeline<S, level_count, kicks, drifts, last_drifts>;
  Register* w = part_data(w_);
  Register* p = part_data(p_);
  int row = 0;
  const auto sites = sites_.mapped([&](const double*) { return PartRow{part_data(rows_[row++])}; });
  if constexpr (evaluates_batches<S>) {
    return sweep_in_batches(sites, levels.front(), w, p, 1 - level_count, parts_.part + Pipeline::delay);
  }
  Pipeline pipeline(levels, sites_);
  for (std::int64_t j = 1 - level_count; j < parts_.part + Pipeline::delay; j += sites_per_iteration) {
#pragma GCC unroll 4
    for (int i = 0; i < sites_per_iteration; ++i) pipeline.advance_site(sites, w, p, j + i);
  }
}

template <Sites S>
void LanePartitionedLine<S>::advance(const LineLevel& level, double head, double behind) {
  with_constant(level.kicks, [&](auto kicks) {
    if (level.drifts == 0) {
      run<kicks, 0>(level, head, behind);
    } else {
      run<kicks, 1>(level, head, behind);
    }
  });
}

template <Sites S>
template <int kicks, int drifts>
[[gnu::noinline]] void LanePartitionedLine<S>::run(const LineLevel& level, double head, double behind) {
  Register* w = part_data(w_);
  Register* p = part_data(p_);
  int row = 0;
  const auto sites = sites_.mapped([&](const double*) { return PartRow{part_data(rows_[row++])}; });
  const std::int64_t part = parts_.part, last = parts_.count - (simd_width - 1) * part - 1;
  SimdDouble strength[2];
  for (int i = 0; i < kicks; ++i) strength[i] = splat(level.kick[i] * sites_.stiffness);
  const SimdDouble rate = splat(level.drift[0] / sites_.mass);
  SimdDouble here = w[0].value[0], before = shift_lanes_up(w[part - 1].value[0]);
  before[0] = head;
  const SimdDouble behind_parts = shift_lanes_down(here);
  SimdDouble left = sites.pull(0, here - before);
  const auto move_site = [&](std::int64_t k, SimdDouble next) __attribute__((always_inline)) {
    SimdDouble momentum = p[k].value[0];
    if constexpr (kicks > 0) {
      const SimdDouble right = sites.pull(k + 1, next - here);
      for (int i = 0; i < kicks; ++i) momentum = kicked(sites, here, momentum, strength[i], left, right);
      p[k].value[0] = momentum;
      left = right;
    }
    if constexpr (drifts > 0) w[k].value[0] = drifted(here, sites.per_mass(k, rate), momentum);
    here = next;
  };
#pragma GCC unroll 4
  for (std::int64_t k = 0; k < last; ++k) move_site(k, w[k + 1].value[0]);
  // The last lane ends here, before the others or with them; its padding behind is not used.
  SimdDouble next = last + 1 < part ? w[last + 1].value[0] : behind_parts;
  next[simd_width - 1] = behind;
  move_site(last, next);
  for (std::int64_t k = last + 1; k < part; ++k) move_site(k, k + 1 < part ? w[k + 1].value[0] : behind_parts);
}

template <Sites S>
void LanePartitionedLine<S>::load_last(int number, double* w, double* p) const {
  const std::int64_t from = parts_.count - (simd_width - 1) * parts_.part - number;
  for (std::int64_t j = 0; j < number; ++j) {
    w[j] = part_data(w_)[from + j].value[0][simd_width - 1];
    p[j] = part_data(p_)[from + j].value[0][simd_width - 1];
  }
}

template <Sites S>
void LanePartitionedLine<S>::store_last(int number, const double* w, const double* p) {
  const std::int64_t from = parts_.count - (simd_width - 1) * parts_.part - number;
  for (std::int64_t j = 0; j < number; ++j) {
    part_data(w_)[from + j].value[0][simd_width - 1] = w[j];
    part_data(p_)[from + j].value[0][simd_width - 1] = p[j];
  }
}

#define BATHLINE_INSTANTIATE(...) template class LanePartitionedLine<__VA_ARGS__>
BATHLINE_FOR_ALL_SITES(BATHLINE_INSTANTIATE);
#undef BATHLINE_INSTANTIATE

}  // namespace bathline
