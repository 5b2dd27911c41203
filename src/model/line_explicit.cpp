// Explicit schemes on a line, blocked in time.
//
// One exchange supplies as many sites beyond each cut as the block's steps reach. The sites near the head advance in
// lockstep with the particles; all others in tiles that overlap by the same reach and stay in cache for all steps of
// the block, or, at the far end and with Runge-Kutta methods, in windows that do the same in plain loops. Every site
// goes through the same expressions wherever it lies, so neither the tiles nor the number of ranks change a bit.
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
    windows_.assign(2, LineWindow(constants_, window + 2 * halo_depth, stages));
    tiles_.assign(stages == 0 ? 2 : 0, LineTile(constants_.stiffness, constants_.mass));
    near_.assign(at_head() ? static_cast<std::size_t>(axes_) : 0, LineWindow(constants_, 2 * halo_depth, stages));
  }
  block_ = {.scheme = &scheme,
            .stages = stages,
            .h = h,
            .steps = steps,
            .overlap = scheme.reach(steps),
            .near = 0,
            .open = true};
  if (stages == 0 && !sweeps_.match(scheme, h, steps)) sweeps_ = LineSweeps(scheme, h, steps);
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
    advance_pieces(axis);
    if (at_head() && near_owns_last) dissipated_[axis] = near_[axis].dissipated();
  }
  block_.open = false;
}

void Line::advance_pieces(int axis) {
  double* w = own(w_[axis]);
  double* p = own(p_[axis]);
  const std::int64_t available = count_ + halo_.right();
  // Tiles keep away from the far end. Only the last piece may be shorter than the overlap.
  const bool sees_last = first_site() + available == sites();
  const std::int64_t tiles_end = tiles_.empty() ? 0 : sees_last ? std::min(count_, available - block_.overlap) : count_;
  const std::int64_t tile = LineTile::capacity - 2 * block_.overlap;
  enum class Form { near, tile, window };
  struct Piece {
    Form form;
    std::int64_t begin, end;
  } pending{Form::near, 0, block_.near};
  int turn = 0;
  // A piece is stored only after the next one has been loaded, which needs the old values at its edge.
  const auto store_pending = [&] {
    const auto [form, begin, end] = pending;
    if (begin == end) return;
    if (form == Form::near) near_[axis].store(0, end, w, p);
    if (form == Form::tile) tiles_[1 - turn].store(block_.overlap, end - begin, w + begin, p + begin);
    if (form == Form::window) windows_[1 - turn].store(block_.overlap, end - begin, w + begin, p + begin);
  };
  for (std::int64_t begin = block_.near; begin < count_; begin = pending.end) {
    const std::int64_t tile_end = std::min(begin + tile, tiles_end);
    const bool is_tile = tile_end == count_ ? tile_end > begin : tile_end >= begin + block_.overlap;
    const Form form = is_tile ? Form::tile : Form::window;
    const std::int64_t end = is_tile ? tile_end : std::min(begin + window, count_);
    const std::int64_t from = begin - block_.overlap;
    const std::int64_t to = std::min(available, end + block_.overlap);
    if (is_tile) {
      tiles_[turn].load(w + from, p + from, to - from);
      store_pending();
      const auto ahead = static_cast<std::size_t>(std::min(tile, available - to));
      const std::span<const double> next[] = {{w + to, ahead}, {p + to, ahead}};
      tiles_[turn].advance(sweeps_.levels(), next);
    } else {
      LineWindow& window = windows_[turn];
      window.load(w + from, p + from, to - from, false, first_site() + to == sites(), dissipated_[axis]);
      store_pending();
      for (int step = 0; step < block_.steps; ++step) {
        for (const Substep& substep : block_.scheme->substeps) window.substep(substep, *block_.scheme, block_.h, 0.0);
      }
      if (first_site() + end == sites()) dissipated_[axis] = window.dissipated();
    }
    pending = {form, begin, end};
    turn = 1 - turn;
  }
  store_pending();
}

}  // namespace bathline
