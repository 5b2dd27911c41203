// The sites of a rank that meet neither the head nor the far end, through a block of steps.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#include "model/line/explicit/interior.hpp"

#include <algorithm>

#include "model/line/explicit/in_place_sweeps.hpp"

namespace bathline {

namespace {

/// Sites that a window owns; with its overlap it fits the first-level cache.
constexpr std::int64_t window = 1536;

}  // namespace

template <Sites S>
LineInterior<S>::LineInterior(const LineConstants& line, const ExplicitScheme& scheme, double h)
    : scheme_(scheme), h_(h) {
  const auto stages = static_cast<int>(scheme.b.size());
  if (stages == 0) {
    tile_.emplace();
  } else {
    windows_.assign(2, LineSegment<S>(line, window + 2 * furthest_of_tiles, stages));
  }
}

template <Sites S>
void LineInterior<S>::advance(const Piece& piece, int steps, const Done& done) {
  if (steps != steps_) {
    steps_ = steps;
    overlap_ = scheme_.reach(steps);
    if (tile_) make_levels(scheme_, h_, steps, levels_);
  }
  if (piece.end <= piece.begin) {
    done(piece.begin);
  } else if (!tile_) {
    advance_in_windows(piece, done);
  } else if (levels_.size() > max_in_place_levels) {
    advance_in_tiles(piece, done);
  } else {
    advance_in_place(piece.sites, levels_, piece.begin - overlap_, piece.end + overlap_, piece.w, piece.p);
    done(piece.begin);
    done(piece.end);
  }
}

/// On its way a tile moves by the overlap. The first one begins so far before the piece, and what it gets wrong there
/// is not wanted.
template <Sites S>
void LineInterior<S>::advance_in_tiles(const Piece& piece, const Done& done) {
  const std::int64_t last = piece.end + overlap_;
  std::int64_t from = piece.begin - overlap_, arrived = piece.begin;
  while (arrived < piece.end) {
    const std::int64_t to = std::min(from + tile_capacity, last);
    const std::int64_t moved_to = from - overlap_, stop = to - overlap_;
    tile_->advance({.w = piece.w + from,
                    .p = piece.p + from,
                    .sites = sites_from(piece.sites, from),
                    .count = to - from,
                    .known_before = piece.known_before + from,
                    .ahead = std::min(to + tile_capacity, last) - to},
                   levels_, {arrived - moved_to, stop - arrived, piece.w + arrived, piece.p + arrived});
    if (arrived == piece.begin) done(arrived);
    done(stop);
    arrived = stop;
    from = to;
  }
}

/// What a window owns is stored only after the next one has been loaded, which needs the old values at its edge.
template <Sites S>
void LineInterior<S>::advance_in_windows(const Piece& piece, const Done& done) {
  std::int64_t stored = piece.begin;
  const auto store = [&](const LineSegment<S>& window, std::int64_t end) {
    window.store(overlap_, end - stored, piece.w + stored, piece.p + stored);
    stored = end;
    done(end);
  };
  int turn = 0;
  for (std::int64_t begin = piece.begin; begin < piece.end; turn = 1 - turn) {
    const std::int64_t end = std::min(begin + window, piece.end), from = begin - overlap_;
    windows_[turn].load({.w = piece.w + from,
                         .p = piece.p + from,
                         .count = end + overlap_ - from,
                         .sites = sites_from(piece.sites, from)});
    if (begin == piece.begin) {
      done(begin);
    } else {
      store(windows_[1 - turn], begin);
    }
    windows_[turn].advance(scheme_, h_, steps_);
    begin = end;
  }
  store(windows_[1 - turn], piece.end);
}

template class LineInterior<UniformSites>;
template class LineInterior<NonuniformSites<>>;

}  // namespace bathline
