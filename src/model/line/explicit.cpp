// Explicit schemes on a line, blocked in time.
//
// One exchange supplies as many sites beyond each cut as the block's steps reach. The sites near the head advance in
// lockstep with the particles; all others in tiles that stay in cache for all steps of the block, or, at the far end
// and with Runge-Kutta methods, in windows that do the same in plain loops and overlap by that reach. A block of a step
// or so is not worth copying sites for: it is done in place. Every site goes through the same expressions wherever it
// lies, so neither the tiles nor the number of ranks change a bit.
//
// What has never moved is left out: a block's steps cannot carry the front of the disturbance further than they reach.
// So is, where nothing but the head's motion is asked for, what cannot reach the head any more before the end.
#include <algorithm>

#include "model/line/line.hpp"
#include "model/line/passes.hpp"

namespace bathline {

int Line::block_limit(const ExplicitScheme& scheme) const {
  // What the particles can reach within a block has to lie on their rank.
  const std::int64_t depth = layout_.holders() == 1 ? halo_depth : std::min<std::int64_t>(halo_depth, layout_.count(0));
  int steps = 1;
  while (scheme.reach(steps + 1) <= depth) ++steps;
  return steps;
}

void Line::open_block(const ExplicitScheme& scheme, double h, int steps) {
  const int stages = static_cast<int>(scheme.b.size());
  if (block_.stages != stages) {
    windows_.assign(2, LineWindow(constants_, window + 2 * halo_depth, stages));
    tile_.reset();
    if (stages == 0) tile_.emplace(is_uniform());
    near_.assign(at_head() ? static_cast<std::size_t>(axes_) : 0, LineWindow(constants_, 2 * halo_depth, stages));
  }
  block_ = {.scheme = &scheme,
            .stages = stages,
            .h = h,
            .steps = steps,
            .overlap = scheme.reach(steps),
            .moved = moved_,
            .needed = sites(),
            .near = 0,
            .open = true};
  if (steps_left_) {
    *steps_left_ -= steps;
    block_.needed = std::min(sites(), 1 + *steps_left_ * scheme.reach(1));  // the first site pulls at the end as well
  }
  if (stages == 0) sweeps_.set(scheme, h, steps);
  touch(moved_ + block_.overlap);
  halo_.exchange(arrays_);
  if (!at_head()) return;
  const std::int64_t available = count_ + halo_.right();
  const bool all = sites() == count_ && count_ <= 2 * block_.overlap;
  block_.near = all ? count_ : std::min(count_, block_.overlap);
  const std::int64_t loaded = std::min(available, block_.near + block_.overlap);
  for (int axis = 0; axis < axes_; ++axis) {
    near_[axis].load(own(w_[axis]), own(p_[axis]), loaded, springs(), true, loaded == sites(), dissipated_[axis]);
  }
}

void Line::substep(const Substep& substep, std::span<const double> head) {
  for (int axis = 0; axis < axes_; ++axis) near_[axis].substep(substep, *block_.scheme, block_.h, head[axis]);
}

void Line::load(LineWindow& window, int axis, std::int64_t begin, std::int64_t end) {
  const std::int64_t from = begin - block_.overlap;
  const std::int64_t to = std::min(count_ + halo_.right(), end + block_.overlap);
  window.load(own(w_[axis]) + from, own(p_[axis]) + from, to - from, springs().from(from), false,
              first_site() + to == sites(), dissipated_[axis]);
}

void Line::advance(LineWindow& window, int axis, bool holds_last) {
  for (int step = 0; step < block_.steps; ++step) {
    for (const Substep& substep : block_.scheme->substeps) window.substep(substep, *block_.scheme, block_.h, 0.0);
  }
  if (holds_last) dissipated_[axis] = window.dissipated();
}

void Line::close_block() {
  const bool near_owns_last = block_.near == sites();
  // Tiles and what is done in place keep away from the far end, whose window does not own more than the overlap.
  const std::int64_t available = count_ + halo_.right();
  const bool sees_last = first_site() + available == sites();
  const std::int64_t end = std::max(block_.near, sees_last ? std::min(count_, available - block_.overlap) : count_);
  const bool in_place = tile_ && sweeps_.levels().size() <= levels_in_passes && end > block_.near;
  const bool adds_energies = energy_is_wanted_ && !in_place;
  const bool to_far_end = tile_ && end < count_ && matters(end);
  for (int axis = 0; axis < axes_; ++axis) {
    if (adds_energies) sums_[axis].begin();
    energy_is_under_way_ = adds_energies;
    if (to_far_end) load(windows_[0], axis, end, count_);
    if (in_place) {
      advance_in_place(axis, end);
    } else if (tile_) {
      advance_in_tiles(axis, end);
    } else {
      advance_in_windows(axis);
    }
    if (to_far_end) {
      advance(windows_[0], axis, first_site() + count_ == sites());
      windows_[0].store(block_.overlap, count_ - end, own(w_[axis]) + end, own(p_[axis]) + end);
    }
    if (at_head() && near_owns_last) dissipated_[axis] = near_[axis].dissipated();
  }
  energy_is_wanted_ = false;
  block_.open = false;
}

bool Line::matters(std::int64_t begin) const {
  return first_site() + begin - block_.overlap < block_.moved && first_site() + begin < block_.needed;
}

void Line::store_near(int axis) {
  if (block_.near == 0) return;
  near_[axis].store(0, block_.near, own(w_[axis]), own(p_[axis]));
  // The spring behind the last site ends at the next piece.
  if (energy_is_under_way_) add_energies(axis, block_.near - 1);
}

void Line::advance_in_windows(int axis) {
  struct Piece {
    std::int64_t begin, end;
  } pending{0, 0};
  int turn = 0;
  // A piece is stored only after the next one has been loaded, which needs the old values at its edge.
  const auto store_pending = [&] {
    const auto [begin, end] = pending;
    if (end == 0) {
      store_near(axis);
    } else {
      windows_[1 - turn].store(block_.overlap, end - begin, own(w_[axis]) + begin, own(p_[axis]) + begin);
      if (energy_is_under_way_) add_energies(axis, end - 1);
    }
  };
  for (std::int64_t begin = block_.near; begin < count_ && matters(begin); begin = pending.end) {
    const std::int64_t end = std::min(begin + window, count_);
    load(windows_[turn], axis, begin, end);
    store_pending();
    advance(windows_[turn], axis, first_site() + end == sites());
    pending = {begin, end};
    turn = 1 - turn;
  }
  store_pending();
}

/// From the near sites, which are stored on the way, to `end`.
void Line::advance_in_tiles(int axis, std::int64_t end) {
  double* w = own(w_[axis]);
  double* p = own(p_[axis]);
  const LineSprings line = springs();
  // On its way a tile moves by the overlap. What the first one gets wrong belongs to the window near the head or to the
  // rank before.
  const std::int64_t last = end + block_.overlap;
  std::int64_t from = block_.near - block_.overlap, done = block_.near;
  while (done < end && matters(done)) {
    const std::int64_t to = std::min(from + LineTile::capacity, last);
    const std::int64_t moved_to = from - block_.overlap, stop = to - block_.overlap;
    tile_->advance({.w = w + from,
                    .p = p + from,
                    .springs = line.from(from),
                    .count = to - from,
                    .springs_before = room_before_ + from,
                    .ahead = std::min(to + LineTile::capacity, last) - to},
                   sweeps_.levels(), {.offset = done - moved_to, .count = stop - done, .w = w + done, .p = p + done});
    if (done == block_.near) store_near(axis);
    if (energy_is_under_way_) add_energies(axis, stop - 1);
    done = stop;
    from = to;
  }
  if (done == block_.near) store_near(axis);
}

/// On both sides the sites within reach of those from the near ones to `end` become worthless: the near ones are stored
/// afterwards, as is the far end by the caller, or they are exchanged.
void Line::advance_in_place(int axis, std::int64_t end) {
  const std::int64_t first = block_.near - block_.overlap;
  const std::int64_t front = std::min(moved_, block_.needed) - first_site();
  const std::int64_t last = std::min(end, std::max(front, block_.near)) + block_.overlap;
  advance_in_passes(springs(), sweeps_.levels(), first, last, own(w_[axis]), own(p_[axis]));
  store_near(axis);
}

}  // namespace bathline
