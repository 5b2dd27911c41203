// A block of steps of a rank's sites that feel neither the head nor the far end.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#include "model/line/explicit/interior.hpp"

#include <algorithm>

#include "model/line/explicit/in_place_sweeps.hpp"

namespace bathline {

namespace {

/// Sites that a segment stores; with its overlap it fits into the first-level cache.
constexpr std::int64_t segment_sites = 1536;

}  // namespace

template <Sites S>
LineInterior<S>::LineInterior(const LineConstants& line, const ExplicitScheme& scheme, double h)
    : scheme_(scheme), h_(h) {
  const auto stages = static_cast<int>(scheme.b.size());
  if (stages == 0) {
    tile_.emplace();
  } else {
    segments_.assign(2, LineSegment<S>(line, segment_sites + 2 * max_tile_shift, stages));
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
    advance_in_segments(piece, done);
  } else if (levels_.size() > max_in_place_levels) {
    advance_in_tiles(piece, done);
  } else {
    advance_in_place(piece.sites, levels_, piece.begin - overlap_, piece.end + overlap_, piece.w, piece.p);
    done(piece.begin);
    done(piece.end);
  }
}

/// During the steps a tile shifts by the overlap. The first tile therefore begins that far before the piece; its
/// invalid sites there are not stored.
template <Sites S>
void LineInterior<S>::advance_in_tiles(const Piece& piece, const Done& done) {
  const std::int64_t last = piece.end + overlap_;
  std::int64_t from = piece.begin - overlap_, finished = piece.begin;
  while (finished < piece.end) {
    const std::int64_t to = std::min(from + tile_capacity, last);
    const std::int64_t shifted_from = from - overlap_, end = to - overlap_;
    tile_->advance({.w = piece.w + from,
                    .p = piece.p + from,
                    .sites = sites_from(piece.sites, from),
                    .count = to - from,
                    .rows_before = piece.rows_before + from,
                    .ahead = std::min(to + tile_capacity, last) - to},
                   levels_, {finished - shifted_from, end - finished, piece.w + finished, piece.p + finished});
    if (finished == piece.begin) done(finished);
    done(end);
    finished = end;
    from = to;
  }
}

/// A segment is stored only after the next one has been loaded, which needs the old values at its edge.
template <Sites S>
void LineInterior<S>::advance_in_segments(const Piece& piece, const Done& done) {
  std::int64_t stored = piece.begin;
  const auto store = [&](const LineSegment<S>& segment, std::int64_t end) {
    segment.store(overlap_, end - stored, piece.w + stored, piece.p + stored);
    stored = end;
    done(end);
  };
  int current = 0;
  for (std::int64_t begin = piece.begin; begin < piece.end; current = 1 - current) {
    const std::int64_t end = std::min(begin + segment_sites, piece.end), from = begin - overlap_;
    segments_[current].load({.w = piece.w + from,
                             .p = piece.p + from,
                             .count = end + overlap_ - from,
                             .sites = sites_from(piece.sites, from)});
    if (begin == piece.begin) {
      done(begin);
    } else {
      store(segments_[1 - current], begin);
    }
    segments_[current].advance(scheme_, h_, steps_);
    begin = end;
  }
  store(segments_[1 - current], piece.end);
}

#define BATHLINE_INSTANTIATE(...) template class LineInterior<__VA_ARGS__>
BATHLINE_FOR_ALL_SITES(BATHLINE_INSTANTIATE);
#undef BATHLINE_INSTANTIATE

}  // namespace bathline
