// An interior piece of a line, advanced in cache by the kicks and drifts of a splitting.
//
// Tiles follow each other along the line. With every force evaluation a tile shifts by one site towards the tile before
// it, which has stored the values of its last sites at every level: tiles are parallelograms in space and time, and no
// value is computed twice.
//
// Every lane of the registers holds a contiguous part of the piece: neighbouring sites are in consecutive registers,
// and values change lanes only at the ends of the parts. A sweep performs several levels of kicks and drifts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/line/explicit/pipeline.hpp"
#include "model/line/lane_field.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// Maximum number of sites of a tile: its parts are long compared with the start and end of a sweep, and the tile fits
/// into the caches.
inline constexpr std::int64_t tile_capacity = 352 * simd_width;
/// Maximum number of sites by which a tile may shift.
inline constexpr std::int64_t max_tile_shift = 64;

template <Sites S>
class SkewedTile {
 public:
  /// Consecutive sites of a line.
  struct Source {
    const double* w;
    const double* p;
    S sites;
    std::int64_t count;
    std::int64_t rows_before = 0;  ///< number of sites before them whose rows are valid
    std::int64_t ahead = 0;        ///< number of sites behind them that the next tile needs, to be prefetched
  };
  /// The destination of `count` sites of the shifted tile, beginning with site `offset`.
  struct Target {
    std::int64_t offset, count;
    double* w;
    double* p;
  };

  SkewedTile();

  /// Advances the sites of `from` by `levels`. Either they continue a full tile of the call before, or they begin a new
  /// piece, where every force evaluation makes one more site at the start invalid. Values that depend on sites behind
  /// the last one are not computed, as the tile shifts away from them.
  void advance(const Source& from, std::span<const LineLevel> levels, const Target& to);

 private:
  /// Levels of a sweep: AVX-512 has twice as many registers.
  static constexpr int depth = std::min(simd_width == 8 ? 4 : 2, S::levels);
  /// Sites per iteration of a sweep's loop, so that values passed on need no moves between registers.
  static constexpr int sites_per_iteration = 2 * depth;
  /// Padding before a part, into which it shifts, and behind it, which sweeps read and write without effect.
  static constexpr std::int64_t room_before = max_tile_shift + 4 * depth, room_behind = 2 * depth + sites_per_iteration;

  using Parts = LaneParts<1>;
  using Register = LaneRegister<1>;
  using Field = LaneField<1>;

  struct Sweep {
    std::span<const LineLevel> levels;
    S sites;
    double* skew_buffer;
    const double* fetched;      // address that an iteration prefetches
    std::int64_t fetched_step;  // its increment per iteration
  };

  Register* part_data(Field& field) const { return field.data() + (room_before - shift_); }
  double* exchange_skew(Field& field, std::int64_t width, double* skew_buffer);
  void load_rows(const Source& from);
  void fill_before(Field& field, const double* from, std::int64_t before);

  void sweep_all(const Source& from, std::span<const LineLevel> levels);
  /// A sweep whose numbers of levels, kicks and drifts are compile-time constants.
  template <int level_count, int kicks, int drifts, int last_drifts>
  void run(const Sweep& sweep);

  Parts parts_;
  std::int64_t shift_ = 0;
  Field w_, p_;
  std::array<Field, S::rows> rows_;
  std::vector<double> skew_buffer_;  // last sites of the tile before at every level
};

}  // namespace bathline
