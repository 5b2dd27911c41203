// A whole line in cache, for one axis: every lane of a register owns a contiguous part of it.
//
// Several levels of kicks and drifts pass through the registers at once. Before such a sweep every part gets as many
// sites beside it as there are levels, copied from the parts beside it, and they are computed twice: so nothing has to
// move, and the whole line is where it was after every sweep.
//
// A line goes on behind a fixed end as its own mirror image with the opposite sign, and behind a free end as its mirror
// image. What is copied there moves as the line does, to the bit.
#pragma once

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
  /// Levels of a sweep at most: with long registers come twice as many of them.
  static constexpr int depth = simd_width == 8 ? 4 : 2;
  /// So many sites at either end lie in one part.
  static constexpr int max_at_an_end = 2 * depth;

  /// Whether a line of `count` sites is long enough.
  static bool takes(std::int64_t count) { return count >= simd_width * (2 * depth_for(count) + simd_width - 1); }
  /// Of such a line.
  LanePartitionedLine(const LineConstants& line, std::int64_t count);

  /// The rows of `sites` are copied once: they do not change.
  void load(const S& sites, const double* w, const double* p);
  void store(double* w, double* p) const;
  /// Levels of which `advance` takes the first.
  std::size_t at_once(std::span<const LineLevel> levels) const {
    return levels_per_sweep(levels, static_cast<std::size_t>(depth_));
  }
  /// As many levels as `at_once` said. Whatever hangs on the first site and on the last one, but for a fixed or free
  /// end, is not known here: as many sites there as there are levels become worthless.
  void advance(std::span<const LineLevel> levels);

  /// A level of a fixed or free line with its head at `head`, at most one of its drifts; no site becomes worthless.
  void advance(const LineLevel& level, double head);

  /// Twice as many sites as become worthless.
  int at_an_end() const { return 2 * depth_; }
  /// Site j of the first `most_at_an_end`.
  double first_w(int j) const { return at_part(w_)[j].at[0][0]; }
  double first_p(int j) const { return at_part(p_)[j].at[0][0]; }
  void set_first(int j, double w, double p) {
    at_part(w_)[j].at[0][0] = w;
    at_part(p_)[j].at[0][0] = p;
  }
  /// The last `number` sites, at most `at_an_end()`.
  void load_last(int number, double* w, double* p) const;
  void store_last(int number, const double* w, const double* p);

 private:
  using Parts = LaneParts<1>;
  using Register = LaneRegister<1>;
  using Field = LaneField<1>;

  static constexpr std::int64_t few_sites = 256;
  /// Sites that a sweep handles in one turn of its loop.
  static constexpr int at_a_time = 4;
  /// Room on both sides of a part, for what is copied, and what a sweep reads and writes in vain.
  static constexpr std::int64_t room = 2 * depth + depth + at_a_time;

  /// Of short parts fewer levels at once compute fewer sites twice.
  static int depth_for(std::int64_t count) { return count <= few_sites ? 2 : depth; }

  Register* at_part(Field& field) const { return field.data() + room; }
  const Register* at_part(const Field& field) const { return field.data() + room; }
  void load_rows(const S& sites);
  void copy_beside(Field& field, int levels) const;
  template <int at_once, int kicks, int drifts, int last_drifts>
  void run(std::span<const LineLevel> levels);
  template <int kicks, int drifts>
  void run(const LineLevel& level, double head);

  FarEnd far_end_;
  Parts parts_;
  int depth_;
  S sites_;
  bool has_rows_ = false;
  Field w_, p_;
  std::array<Field, S::rows> rows_;
};

}  // namespace bathline
