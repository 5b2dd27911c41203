// The sites of a rank that meet neither the head nor the far end, through a block of steps, for one axis: nearly all of
// a line, behind one call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "methods/scheme.hpp"
#include "model/line/explicit/skewed_tile.hpp"
#include "model/line/explicit/segment.hpp"

namespace bathline {

/// In tiles that stay in cache for all steps of the block. A block of a step or so is not worth copying sites for, and
/// is done in place; Runge-Kutta methods go through windows, which overlap. Every site goes through the same
/// expressions in any of them.
template <Sites S>
class LineInterior {
 public:
  /// Sites from `begin` to before `end`, counted from w, p and the first of `sites`. On both sides of them as many are
  /// known as the steps reach, which become worthless.
  struct Piece {
    double* w;
    double* p;
    S sites;
    std::int64_t begin, end;
    std::int64_t known_before;  ///< sites before number 0 of which the rows are known
  };

  /// No block may reach further than tiles can move.
  LineInterior(const LineConstants& line, const ExplicitScheme& scheme, double h);

  /// Takes the piece through `steps` steps. `done(j)` is called with ever larger j as soon as the sites from `begin` to
  /// before j have arrived and those before `begin` are needed no more: with `begin` first, with `end` last, and in
  /// between while the sites are in cache.
  void advance(const Piece& piece, int steps, const std::function<void(std::int64_t)>& done);

 private:
  using Done = std::function<void(std::int64_t)>;
  void advance_in_tiles(const Piece& piece, const Done& done);
  void advance_in_windows(const Piece& piece, const Done& done);

  ExplicitScheme scheme_;
  double h_;
  int steps_ = 0;
  std::int64_t overlap_ = 0;             // sites that the steps reach
  std::vector<LineLevel> levels_;        // of the steps of a splitting
  std::optional<SkewedTile<S>> tile_;    // for splittings
  std::vector<LineSegment<S>> windows_;  // two, used by turns, for Runge-Kutta methods
};

}  // namespace bathline
