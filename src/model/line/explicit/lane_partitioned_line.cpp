// A whole line in cache, for one axis.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#include "model/line/explicit/lane_partitioned_line.hpp"

#include <algorithm>

#include "model/line/explicit/pipeline.hpp"

namespace bathline {

template <Sites S>
LanePartitionedLine<S>::LanePartitionedLine(const LineConstants& line, std::int64_t count)
    : far_end_(line.far_end),
      parts_(count, max_at_an_end),
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
  parts_.pack(w, at_part(w_));
  parts_.pack(p, at_part(p_));
}

template <Sites S>
void LanePartitionedLine<S>::store(double* w, double* p) const {
  parts_.unpack(at_part(w_), 0, parts_.count, w);
  parts_.unpack(at_part(p_), 0, parts_.count, p);
}

/// Behind the end the sites are the mirror image: around the site behind the last one of a fixed line, and half a site
/// before that on a free one. Springs come after the springs that they mirror by one more.
template <Sites S>
void LanePartitionedLine<S>::load_rows(const S& sites) {
  const std::int64_t count = parts_.count;
  const std::int64_t mirror = far_end_ == FarEnd::fixed ? 2 * count : 2 * count - 1;
  int number = 0;
  for_each_row(sites, [&](const double* row) {
    const bool is_of_springs = number == 0;
    Register* part = at_part(rows_[number++]);
    const std::int64_t last = is_of_springs && far_end_ == FarEnd::fixed ? count : count - 1;
    for (std::int64_t j = -room; j < parts_.part + room; ++j) {
      for (int lane = 0; lane < simd_width; ++lane) {
        std::int64_t site = lane * parts_.part + j;
        if (site > last) site = mirror + (is_of_springs ? 1 : 0) - site;
        part[j].at[0][lane] = row[std::clamp<std::int64_t>(site, 0, last)];
      }
    }
  });
}

template <Sites S>
void LanePartitionedLine<S>::copy_beside(Field& field, int levels) const {
  Register* part = at_part(field);
  for (int g = 1; g <= levels; ++g) part[-g].at[0] = shift_lanes_up(part[parts_.part - g].at[0]);
  for (int g = 0; g < levels; ++g) part[parts_.part + g].at[0] = shift_lanes_down(part[g].at[0]);
  // The last lane has no other behind it, and may have fewer sites.
  const std::int64_t end = parts_.count - (simd_width - 1) * parts_.part;
  const std::int64_t behind = std::max<std::int64_t>(levels, parts_.part - end);
  for (std::int64_t g = 0; g < behind; ++g) {
    SimdDouble image = part[end - 1 - g].at[0];
    if (far_end_ == FarEnd::fixed) image = g > 0 ? -part[end - g].at[0] : SimdDouble{};
    part[end + g].at[0][simd_width - 1] = image[simd_width - 1];
  }
}

template <Sites S>
void LanePartitionedLine<S>::advance(std::span<const LineLevel> levels) {
  copy_beside(w_, static_cast<int>(levels.size()));
  copy_beside(p_, static_cast<int>(levels.size()));
  const auto run_them = [&](auto at_once, auto kicks, auto drifts, auto last_drifts) {
    run<at_once, kicks, drifts, last_drifts>(levels);
  };
  if (levels.size() == depth) {
    with_kinds_of<depth>(levels, run_them);
  } else {
    with_kinds_of<2>(levels, run_them);
  }
}

template <Sites S>
template <int at_once, int kicks, int drifts, int last_drifts>
[[gnu::noinline]] void LanePartitionedLine<S>::run(std::span<const LineLevel> levels) {
  LevelPipeline<S, at_once, kicks, drifts, last_drifts> pipeline(levels, sites_);
  Register* w = at_part(w_);
  Register* p = at_part(p_);
  int row = 0;
  const auto sites = sites_.mapped([&](const double*) { return PartRow{at_part(rows_[row++])}; });
  for (std::int64_t j = 1 - at_once; j < parts_.part + pipeline.delay; j += at_a_time) {
#pragma GCC unroll 4
    for (int i = 0; i < at_a_time; ++i) pipeline.turn(sites, w, p, j + i);
  }
}

template <Sites S>
void LanePartitionedLine<S>::advance(const LineLevel& level, double head) {
  with_constant(level.kicks, [&](auto kicks) {
    if (level.drifts == 0) {
      run<kicks, 0>(level, head);
    } else {
      run<kicks, 1>(level, head);
    }
  });
}

template <Sites S>
template <int kicks, int drifts>
[[gnu::noinline]] void LanePartitionedLine<S>::run(const LineLevel& level, double head) {
  Register* w = at_part(w_);
  Register* p = at_part(p_);
  int row = 0;
  const auto sites = sites_.mapped([&](const double*) { return PartRow{at_part(rows_[row++])}; });
  const std::int64_t part = parts_.part, last = parts_.count - (simd_width - 1) * part - 1;
  SimdDouble strength[2];
  for (int i = 0; i < kicks; ++i) strength[i] = splat(level.kick[i] * sites_.stiffness);
  const SimdDouble rate = splat(level.drift[0] / sites_.mass);
  SimdDouble here = w[0].at[0], before = shift_lanes_up(w[part - 1].at[0]);
  before[0] = head;
  const SimdDouble behind_parts = shift_lanes_down(here);
  SimdDouble left = sites.pull(0, here - before);
  const auto move = [&](std::int64_t k, SimdDouble next) __attribute__((always_inline)) {
    SimdDouble momentum = p[k].at[0];
    if constexpr (kicks > 0) {
      const SimdDouble right = sites.pull(k + 1, next - here);
      for (int i = 0; i < kicks; ++i) momentum = kicked(momentum, strength[i], left, right);
      p[k].at[0] = momentum;
      left = right;
    }
    if constexpr (drifts > 0) w[k].at[0] = drifted(here, sites.per_mass(k, rate), momentum);
    here = next;
  };
#pragma GCC unroll 4
  for (std::int64_t k = 0; k < last; ++k) move(k, w[k + 1].at[0]);
  // The last lane ends here, before the others or with them; what it has behind moves in vain.
  SimdDouble next = last + 1 < part ? w[last + 1].at[0] : behind_parts;
  next[simd_width - 1] = far_end_ == FarEnd::fixed ? 0.0 : here[simd_width - 1];
  move(last, next);
  for (std::int64_t k = last + 1; k < part; ++k) move(k, k + 1 < part ? w[k + 1].at[0] : behind_parts);
}

template <Sites S>
void LanePartitionedLine<S>::load_last(int number, double* w, double* p) const {
  const std::int64_t from = parts_.count - (simd_width - 1) * parts_.part - number;
  for (std::int64_t j = 0; j < number; ++j) {
    w[j] = at_part(w_)[from + j].at[0][simd_width - 1];
    p[j] = at_part(p_)[from + j].at[0][simd_width - 1];
  }
}

template <Sites S>
void LanePartitionedLine<S>::store_last(int number, const double* w, const double* p) {
  const std::int64_t from = parts_.count - (simd_width - 1) * parts_.part - number;
  for (std::int64_t j = 0; j < number; ++j) {
    at_part(w_)[from + j].at[0][simd_width - 1] = w[j];
    at_part(p_)[from + j].at[0][simd_width - 1] = p[j];
  }
}

template class LanePartitionedLine<UniformSites>;
template class LanePartitionedLine<NonuniformSites<>>;

}  // namespace bathline
