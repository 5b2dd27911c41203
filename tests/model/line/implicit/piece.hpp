// A piece of a line advanced by implicit steps in a tile: agreement with a segment, and the reach of a block.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/line/implicit/reach.hpp"
#include "random_numbers.hpp"

namespace bathline {

struct Piece {
  std::vector<double> w, p;
};

inline Piece random_piece(std::int64_t sites) {
  RandomNumbers random(5);
  const auto n = static_cast<std::size_t>(sites);
  Piece piece;
  piece.w = random.list(n);
  piece.p = random.list(n);
  return piece;
}

/// The piece after `steps` steps of a tile.
template <class Tile>
Piece advanced(const LineRecursion& recursion, const Piece& start, int steps) {
  const auto count = static_cast<std::int64_t>(start.w.size());
  Tile tile(recursion, Tile::capacity_for(recursion, count / 4));
  tile.load(start.w.data(), start.p.data(), count);
  tile.advance(steps, {});
  Piece piece = start;
  tile.store(0, count, piece.w.data(), piece.p.data());
  return piece;
}

/// Compares a tile with a segment of the same `sites` sites, beyond the reach of both ends. `max_phase` is h w0,
/// `stages` those of the scheme.
template <class Tile, class Segment>
void expect_tile_to_equal(Segment segment, const LineRecursion& recursion, const ImplicitReach& reach,
                          std::int64_t sites, double max_phase, int stages) {
  const Piece start = random_piece(sites);
  const Piece actual = advanced<Tile>(recursion, start, reach.steps);
  segment.load(start.w.data(), start.p.data(), 0.0);
  for (int i = 0; i < reach.steps; ++i) segment.step();
  Piece expected = start;
  segment.store(0, sites, expected.w.data(), expected.p.data());
  // A step rounds values of the largest size, a long one accumulates the errors of h w0 sites, and partial fractions
  // exceed their sum by a factor that grows with the number of stages.
  double scale = 0.0;
  for (const double w : expected.w) scale = std::max(scale, std::abs(w));
  const double tolerance =
      4.0 * stages * reach.steps * std::numeric_limits<double>::epsilon() * scale * (1.0 + max_phase);
  for (std::int64_t j = reach.sites; j < sites - reach.sites; ++j) {
    const auto i = static_cast<std::size_t>(j);
    ASSERT_NEAR(actual.w[i], expected.w[i], tolerance) << j;
    ASSERT_NEAR(actual.p[i], expected.p[i], tolerance) << j;
  }
}

/// Sites beyond the reach change results by round-off only, and the reach is not much longer than necessary.
template <class Tile>
void expect_influence_to_end_at(const ImplicitReach& reach, const LineRecursion& recursion, int stages) {
  constexpr std::int64_t outer = 20, inner = 101;
  const Piece start = random_piece(2 * outer + 2 * (reach.sites - 1) + inner);
  Piece other = start;
  for (std::int64_t j = 0; j < outer; ++j) {
    for (const auto i : {static_cast<std::size_t>(j), start.w.size() - 1 - static_cast<std::size_t>(j)}) {
      other.w[i] = 1.0 - other.w[i];
      other.p[i] = -other.p[i];
    }
  }
  const Piece a = advanced<Tile>(recursion, start, reach.steps), b = advanced<Tile>(recursion, other, reach.steps);
  const auto difference = [&](std::int64_t j) {
    const auto i = static_cast<std::size_t>(j);
    return std::abs(a.w[i] - b.w[i]) + std::abs(a.p[i] - b.p[i]) / recursion.impedance;
  };
  const std::int64_t out_of_reach = outer + reach.sites - 1;
  // The remaining influence can change a rounding of w and one of p at every stage of every step.
  const double round_off = stages * reach.steps * std::numeric_limits<double>::epsilon();
  for (std::int64_t j = out_of_reach; j < out_of_reach + inner; ++j) ASSERT_LE(difference(j), round_off) << j;
  const std::int64_t within = out_of_reach - (reach.sites + 3) / 4;
  EXPECT_GT(difference(within), 0.0);
}

}  // namespace bathline
