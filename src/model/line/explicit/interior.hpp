// A block of steps of a rank's sites that feel neither the head nor the far end within it, for one axis: nearly all
// sites of a long line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "methods/scheme.hpp"
#include "model/line/explicit/skewed_tile.hpp"
#include "model/line/explicit/segment.hpp"

namespace bathline {

/// Splittings use tiles that stay in cache for all steps of the block, or advance in place where the block is too short
/// to copy sites; Runge-Kutta methods use overlapping segments. All of them evaluate the same expressions.
template <Sites S>
class LineInterior {
 public:
  /// Sites [begin, end), counted from w, p and the first of `sites`. As many valid sites as the steps reach are needed
  /// on either side; these become invalid.
  struct Piece {
    double* w;
    double* p;
    S sites;
    std::int64_t begin, end;
    std::int64_t rows_before;  ///< number of sites before site 0 whose rows are valid
  };

  /// No block may reach further than `max_tile_shift` sites.
  LineInterior(const LineConstants& line, const ExplicitScheme& scheme, double h);

  /// Advances the piece by `steps` steps. done(j) is called with increasing j, first `begin` and last `end`, once the
  /// sites [begin, j) have their final values and those before `begin` are no longer read; the sites are still in cache
  /// then.
  void advance(const Piece& piece, int steps, const std::function<void(std::int64_t)>& done);

 private:
  using Done = std::function<void(std::int64_t)>;
  void advance_in_tiles(const Piece& piece, const Done& done);
  void advance_in_segments(const Piece& piece, const Done& done);

  ExplicitScheme scheme_;
  double h_;
  int steps_ = 0;
  std::int64_t overlap_ = 0;              // sites that the steps reach
  std::vector<LineLevel> levels_;         // of a splitting
  std::optional<SkewedTile<S>> tile_;     // for splittings
  std::vector<LineSegment<S>> segments_;  // two, used alternately, for Runge-Kutta methods
};

}  // namespace bathline
