// A piece of a line that meets neither its head nor its far end, taken through a splitting's kicks and drifts in cache.
//
// Tiles follow each other along the line. With every force a tile moves one site towards the one before it, which has
// left behind what its last sites were at every level: in space and time tiles are parallelograms, and nothing is
// computed twice.
//
// Every lane of a register owns a contiguous part of the piece: neighbours stand in neighbouring registers, and only
// at the ends of the parts does a value change lanes. Several levels of kicks and drifts pass through the registers at
// once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/line/explicit/pipeline.hpp"
#include "model/line/lane_field.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// Sites that a tile holds at most. A part is long against the beginning and the end of a sweep, and a tile small
/// against the caches.
inline constexpr std::int64_t tile_capacity = 352 * simd_width;
/// Sites that a tile can move by.
inline constexpr std::int64_t furthest_of_tiles = 64;

template <Sites S>
class SkewedTile {
 public:
  /// Consecutive sites of a line.
  struct Source {
    const double* w;
    const double* p;
    S sites;
    std::int64_t count;
    std::int64_t known_before = 0;  ///< sites before them of which the rows are known
    std::int64_t ahead = 0;         ///< sites behind them that the next tile will need
  };
  /// `count` of a tile's sites, from the `offset`-th on, where they have moved to.
  struct Target {
    std::int64_t offset, count;
    double* w;
    double* p;
  };

  SkewedTile();

  /// Takes the sites of `from` through `levels`. Either they go on where those of the call before ended, which were as
  /// many as a tile holds, or they begin anew: then the sites before them are left out, and values become stale
  /// from there by one site with every force. Beyond the last site nothing is known either, but what depends on it the
  /// tile leaves behind as it moves.
  void advance(const Source& from, std::span<const LineLevel> levels, const Target& to);

 private:
  /// Levels that pass through the registers at once: with long registers come twice as many of them.
  static constexpr int depth = simd_width == 8 ? 4 : 2;
  /// Sites that a sweep handles in one turn of its loop, so that what one leaves for the next need not be moved between
  /// registers.
  static constexpr int at_a_time = 2 * depth;
  /// Room before a part, which it moves into, and behind it for what a sweep reads and writes in vain.
  static constexpr std::int64_t room_before = furthest_of_tiles + 4 * depth, room_behind = 2 * depth + at_a_time;

  using Parts = LaneParts<1>;
  using Register = LaneRegister<1>;
  using Field = LaneField<1>;

  struct Sweep {
    std::span<const LineLevel> levels;
    S sites;
    double* skew_buffer;
    const double* fetched;      // towards the cache, with every turn of the loop
    std::int64_t fetched_step;  // so many numbers further
  };

  Register* at_part(Field& field) const { return field.data() + (room_before - shift_); }
  double* take_over(Field& field, std::int64_t width, double* skew_buffer);
  void load_rows(const Source& from);
  void spread_before(Field& field, const double* from, std::int64_t before);

  void sweep_all(const Source& from, std::span<const LineLevel> levels);
  /// With the numbers of levels, kicks and drifts known when this is compiled.
  template <int at_once, int kicks, int drifts, int last_drifts>
  void run(const Sweep& sweep);

  Parts parts_;
  std::int64_t shift_ = 0;
  Field w_, p_;
  std::array<Field, S::rows> rows_;
  std::vector<double> skew_buffer_;  // by the tile before, at every level
};

}  // namespace bathline
