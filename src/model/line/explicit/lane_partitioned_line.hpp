// A whole line in cache, for one axis: every lane of the registers holds a contiguous part of it.
//
// A sweep performs several levels of kicks and drifts. Before it every part receives copies of as many sites of the
// neighbouring parts as there are levels, and these sites are computed twice, so that parts do not shift.
//
// Behind a fixed end a line with odd forces continues as its mirror image with the opposite sign, and behind a free end
// as its mirror image; behind a joined end it continues as the other strand. Copied sites there move like their images,
// to the bit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "model/line/explicit/time_levels.hpp"
#include "model/line/lane_field.hpp"
#include "model/line/sites.hpp"

namespace bathline {

template <Sites S>
class LanePartitionedLine {
 public:
  /// Maximum number of levels of a sweep: AVX-512 has twice as many registers.
  static constexpr int depth = std::min(simd_width == 8 ? 4 : 2, S::levels);
  /// At either end at least this many sites lie in one part: whole registers.
  static constexpr int max_end_sites = std::max(2 * depth, simd_width);

  /// Whether a line of `count` sites is long enough.
  static bool is_long_enough(std::int64_t count) {
    return count >= simd_width * (2 * depth_for(count) + simd_width - 1);
  }
  /// `count` must be long enough.
  LanePartitionedLine(const LineConstants& line, std::int64_t count);

  /// The rows of `sites` are copied by the first call only.
  void load(const S& sites, const double* w, const double* p);
  void store(double* w, double* p) const;
  /// How many of the first levels one `advance` performs.
  std::size_t sweep_levels(std::span<const LineLevel> levels) const {
    return levels_per_sweep(levels, static_cast<std::size_t>(depth_));
  }
  /// Copies the neighbours of all parts for so many levels; `other` is the other strand of a joined end, or this line.
  void copy_neighbours(std::size_t levels, const LanePartitionedLine& other);
  /// Performs as many levels as `sweep_levels` returned, between neighbours that have been copied. The head is unknown
  /// here, and so is an end that is matched or, where forces are not odd, not joined: as many sites as there are levels
  /// become invalid at the start, and before such an end.
  void advance(std::span<const LineLevel> levels);

  /// The displacement behind the last site, in `other` as above, of an end that is not matched.
  double behind_last(const LanePartitionedLine& other) const;
  /// A level with at most one drift of a line that is not matched, with its head at `head` and the site behind its last
  /// one at `behind`; no site becomes invalid.
  void advance(const LineLevel& level, double head, double behind);

  /// Twice the maximum number of sites that become invalid at an end.
  int end_sites() const { return 2 * depth_; }
  /// Site j of the first `max_end_sites`.
  double first_w(int j) const { return part_data(w_)[j].value[0][0]; }
  double first_p(int j) const { return part_data(p_)[j].value[0][0]; }
  void set_first(int j, double w, double p) {
    part_data(w_)[j].value[0][0] = w;
    part_data(p_)[j].value[0][0] = p;
  }
  /// The last `number` sites, at most `end_sites()`.
  void load_last(int number, double* w, double* p) const;
  void store_last(int number, const double* w, const double* p);

 private:
  using Parts = LaneParts<1>;
  using Register = LaneRegister<1>;
  using Field = LaneField<1>;

  static constexpr std::int64_t max_short_line = 256;
  /// Sites per iteration of a sweep's loop.
  static constexpr int sites_per_iteration = 4;
  /// Padding on both sides of a part, for copied sites and for what sweeps read and write without effect.
  static constexpr std::int64_t room = 2 * depth + depth + sites_per_iteration;

  /// Fewer levels on short lines, where sites computed twice cost more.
  static int depth_for(std::int64_t count) { return count <= max_short_line ? short_depth : depth; }
  static constexpr int short_depth = std::min(2, depth);

  Register* part_data(Field& field) const { return field.data() + room; }
  const Register* part_data(const Field& field) const { return field.data() + room; }
  void load_rows(const S& sites);
  void copy_neighbours(Field& field, int levels, const Field& other) const;
  template <int level_count, int kicks, int drifts, int last_drifts>
  void run(std::span<const LineLevel> levels);
  template <int kicks, int drifts>
  void run(const LineLevel& level, double head, double behind);

  FarEnd far_end_;
  int shared_;
  Parts parts_;
  int depth_;
  S sites_;
  bool has_rows_ = false;
  Field w_, p_;
  std::array<Field, S::rows> rows_;
};

}  // namespace bathline
