// Explicit schemes on a line, blocked in time.
//
// One exchange supplies as many sites beyond each cut as the block's steps reach. The sites near the head advance in
// lockstep with the particles; all others in tiles that overlap by the same reach and stay in cache for all steps of
// the block. Every site goes through the same expressions in whichever tile it lies, so neither the tiles nor the
// number of ranks change a bit.
#include <algorithm>

#include "model/line.hpp"

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
    tiles_.assign(2, LineWindow(constants_, tile + 2 * halo_depth, stages));
    near_.assign(at_head() ? static_cast<std::size_t>(axes_) : 0, LineWindow(constants_, 2 * halo_depth, stages));
  }
  block_ = {.scheme = &scheme,
            .stages = stages,
            .h = h,
            .steps = steps,
            .overlap = scheme.reach(steps),
            .near = 0,
            .open = true};
  halo_.exchange(arrays_);
  if (!at_head()) return;
  const std::int64_t available = count_ + halo_.right();
  const bool all = sites() == count_ && count_ <= 2 * block_.overlap;
  block_.near = all ? count_ : std::min(count_, block_.overlap);
  const std::int64_t loaded = std::min(available, block_.near + block_.overlap);
  for (int axis = 0; axis < axes_; ++axis) {
    near_[axis].load(own(w_[axis]), own(p_[axis]), loaded, true, loaded == sites(), dissipated_[axis]);
  }
}

void Line::substep(const Substep& substep, std::span<const double> head) {
  for (int axis = 0; axis < axes_; ++axis) near_[axis].substep(substep, *block_.scheme, block_.h, head[axis]);
}

void Line::close_block() {
  const bool near_owns_last = block_.near == sites();
  for (int axis = 0; axis < axes_; ++axis) {
    advance_tiles(axis);
    if (!at_head()) continue;
    near_[axis].store(0, block_.near, own(w_[axis]), own(p_[axis]));
    if (near_owns_last) dissipated_[axis] = near_[axis].dissipated();
  }
  block_.open = false;
}

void Line::advance_tiles(int axis) {
  double* w = own(w_[axis]);
  double* p = own(p_[axis]);
  const std::int64_t available = count_ + halo_.right();
  struct Pending {
    std::int64_t begin = 0, count = 0, offset = 0;
  } pending;
  int turn = 0;
  // A tile is stored only after the next one has been loaded, which needs the old values at its edge.
  const auto store_pending = [&] {
    if (pending.count > 0) tiles_[1 - turn].store(pending.offset, pending.count, w + pending.begin, p + pending.begin);
  };
  for (std::int64_t begin = block_.near; begin < count_; begin += tile) {
    const std::int64_t end = std::min(count_, begin + tile);
    const std::int64_t from = begin - block_.overlap;
    const std::int64_t to = std::min(available, end + block_.overlap);
    LineWindow& window = tiles_[turn];
    window.load(w + from, p + from, to - from, false, first_site() + to == sites(), dissipated_[axis]);
    store_pending();
    for (int step = 0; step < block_.steps; ++step) {
      for (const Substep& substep : block_.scheme->substeps) window.substep(substep, *block_.scheme, block_.h, 0.0);
    }
    if (first_site() + end == sites()) dissipated_[axis] = window.dissipated();
    pending = {begin, end - begin, begin - from};
    turn = 1 - turn;
  }
  store_pending();
}

}  // namespace bathline
