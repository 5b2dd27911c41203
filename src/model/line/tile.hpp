// A piece of a line that meets neither its head nor its far end, taken through a splitting's kicks and drifts in cache.
//
// Tiles follow each other along the line. With every force a tile moves one site towards the one before it, which has
// left behind what its last sites were at every level: in space and time tiles are parallelograms, and nothing is
// computed twice.
//
// Every lane of a register owns a contiguous part of the piece: neighbours stand in neighbouring registers, and only
// at the ends of the parts does a value change lanes. Two levels of kicks and drifts pass through the registers at
// once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/line/lane_field.hpp"
#include "model/line/sweeps.hpp"

namespace bathline {

class LineTile {
 public:
  /// Sites that a tile holds at most. A part is long against the beginning and the end of a sweep, and a tile small
  /// against the caches.
  static constexpr std::int64_t capacity = 352 * lanes;
  /// Sites that a tile can move by.
  static constexpr std::int64_t furthest = 64;

  /// For tiles of a uniform line.
  LineTile(double stiffness, double mass);
  /// For tiles of a line whose sites differ: they come with `load_springs`.
  LineTile();

  /// Either goes on where the tile before it, which was full, ended when it was loaded, or begins a new row: then the
  /// sites before it are left out, and values become stale from there by one site with every force. Beyond the last
  /// site nothing is known either, but what depends on it the tile leaves behind as it moves.
  void load(const double* w, const double* p, std::int64_t count);
  /// Of the sites loaded: the stiffness of the spring before each, and its inverse mass, which are also known of
  /// `before` sites before them.
  void load_springs(const double* stiffness, const double* inverse_mass, std::int64_t before);
  /// On the way `ahead`, which the next tile will need, is fetched towards the cache.
  void advance(std::span<const LineLevel> levels, std::span<const std::span<const double>> ahead);
  /// Writes `count` sites from `offset` on, of as many as were loaded, from where the tile has moved to.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const;

 private:
  /// Levels that pass through the registers at once: with long registers come twice as many of them.
  static constexpr int depth = lanes == 8 ? 4 : 2;
  /// Sites that a sweep handles in one turn of its loop, so that what one leaves for the next need not be moved between
  /// registers.
  static constexpr int at_a_time = 4;
  /// Room before a part, which it moves into, and behind it for what a sweep reads and writes in vain.
  static constexpr std::int64_t room_before = furthest + 4 * depth, room_behind = 2 * depth + at_a_time;

  using Parts = LaneParts<1>;
  using Register = LaneRegister<1>;
  using Field = LaneField<1>;

  Register* at_part(Field& field) const { return field.data() + (room_before - moved_); }
  const Register* at_part(const Field& field) const { return field.data() + (room_before - moved_); }
  double* take_over(Field& field, std::int64_t width, double* left_behind);
  void spread_before(Field& field, const double* from, std::int64_t before);

  template <bool uniform>
  void sweep_all(std::span<const LineLevel> levels, std::span<const std::span<const double>> ahead);
  template <bool uniform, int kicks, int drifts>
  std::size_t sweep_some(std::span<const LineLevel> levels, double* left_behind);
  template <bool uniform, int at_once, int kicks, int drifts>
  void sweep(std::span<const LineLevel> levels, double* left_behind);

  bool uniform_;
  double stiffness_ = 1.0, mass_ = 1.0;
  Parts parts_;
  std::int64_t moved_ = 0;
  Field w_, p_;
  Field spring_, inverse_mass_;
  std::vector<double> left_behind_;  // by the tile before, at every level
};

}  // namespace bathline
