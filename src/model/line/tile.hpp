// A piece of a line that meets neither its head nor its far end, taken through a splitting's kicks and drifts in cache.
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
  /// Sites that a tile holds at most: a multiple of lanes * lanes for all instruction sets.
  static constexpr std::int64_t capacity = 44 * 64;

  /// For a piece of a uniform line.
  LineTile(double stiffness, double mass);
  /// For a piece of a line whose sites differ: they come with `load_springs`.
  LineTile();

  /// The first and the last site border on sites left out: values become stale from there by one site with every force,
  /// so that after some steps only the inner sites are valid. It is up to the caller to load enough of them.
  void load(const double* w, const double* p, std::int64_t count);
  /// Of the sites loaded: the stiffness of the spring before each, and its inverse mass.
  void load_springs(const double* stiffness, const double* inverse_mass);
  /// On the way `ahead`, which the next tile will need, is fetched towards the cache.
  void advance(std::span<const LineLevel> levels, std::span<const std::span<const double>> ahead);
  /// Writes `count` sites from `offset` on, which must still be valid.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const;

 private:
  /// Levels that pass through the registers at once: with long registers come twice as many of them.
  static constexpr int depth = lanes == 8 ? 4 : 2;
  /// Copies of what lies beyond the ends of a lane's part, and room for what a sweep writes before it has begun.
  static constexpr std::int64_t margin = 3 * depth + 2;

  using Parts = LaneParts<1>;
  using Register = LaneRegister<1>;
  using Field = LaneField<1>;

  // A field that the tile does without is empty, and nothing may be added to its null pointer.
  static Register* inside(Field& field) { return field.empty() ? nullptr : field.data() + margin; }
  static const Register* inside(const Field& field) { return field.empty() ? nullptr : field.data() + margin; }
  void copy_over_ends(Field& field, std::int64_t width) const;

  template <bool uniform>
  void sweep_all(std::span<const LineLevel> levels, std::span<const std::span<const double>> ahead);
  template <bool uniform, int kicks, int drifts>
  std::size_t sweep_some(std::span<const LineLevel> levels);
  template <bool uniform, int at_once, int kicks, int drifts>
  void sweep(std::span<const LineLevel> levels);

  bool uniform_;
  double stiffness_ = 1.0, mass_ = 1.0;
  Parts parts_;
  Field w_, p_;
  Field spring_, inverse_mass_;
};

}  // namespace bathline
