// Implicit one-stage steps of a uniform line in blocks of steps, without any message within a block.
#include "model/line_implicit_block.hpp"

#include <algorithm>

namespace bathline {

std::unique_ptr<LineImplicitBlock> LineImplicitBlock::make(const ImplicitStage& stage, const Layout& layout,
                                                           const Communicator& communicator, int axes) {
  // Nothing is wrong with blocks of a line in one window, however long.
  constexpr int longest = 64;
  if (!(stage.scheme.a > 0.0)) return nullptr;
  const int holders = layout.holders();
  const std::int64_t least = std::min(layout.count(0), layout.count(holders - 1));
  const std::int64_t limit = holders == 1 ? widest : std::min<std::int64_t>(widest, least);
  ImplicitReach reach = cheapest_reach(ImplicitRecursion(stage.line, stage.scheme, stage.h), limit);
  if (holders == 1 && layout.total() <= 4 * (reach.steps > 0 ? reach.sites : limit)) reach = {longest, 0};
  if (reach.steps == 0) return nullptr;
  return std::unique_ptr<LineImplicitBlock>(new LineImplicitBlock(stage, reach, layout, communicator, axes));
}

LineImplicitBlock::LineImplicitBlock(const ImplicitStage& stage, const ImplicitReach& reach, const Layout& layout,
                                     const Communicator& communicator, int axes)
    : reach_(reach),
      at_head_(communicator.is_root()),
      at_far_end_(communicator.rank() == layout.holders() - 1),
      count_(layout.count(communicator.rank())),
      near_count_(at_head_ ? reach.sites : 0) {
  using Place = LineImplicitWindow::Place;
  const auto windows = static_cast<std::size_t>(axes);
  if (reach.sites == 0) {
    near_count_ = count_;
    if (at_head_) near_.assign(windows, LineImplicitWindow(stage, Place::whole, count_));
    return;
  }
  halo_ = std::make_unique<Halo>(layout, communicator, static_cast<int>(reach.sites), 2 * axes);
  if (at_head_) near_.assign(windows, LineImplicitWindow(stage, Place::head, 2 * reach.sites));
  if (at_far_end_) far_.assign(1, LineImplicitWindow(stage, Place::far_end, 2 * reach.sites));
  if (count_ == 0) return;
  const ImplicitRecursion recursion(stage.line, stage.scheme, stage.h);
  const std::int64_t capacity = LineImplicitTile::capacity_for(recursion, reach.sites);
  tile_ = capacity - 2 * reach.sites;
  tiles_.assign(2, LineImplicitTile(recursion, capacity));
}

void LineImplicitBlock::open(int steps, std::vector<Axis> axes) {
  steps_ = steps;
  axes_ = std::move(axes);
  if (halo_) {
    halo_fields_.clear();
    for (const Axis& axis : axes_) {
      halo_fields_.push_back(axis.w - halo_->left());
      halo_fields_.push_back(axis.p - halo_->left());
    }
    halo_->exchange(halo_fields_);
  }
  for (std::size_t axis = 0; axis < near_.size(); ++axis) {
    const Axis& own = axes_[axis];
    near_[axis].load(own.w, own.p, near_count_ + reach_.sites, *own.dissipated);
  }
}

void LineImplicitBlock::eliminate(std::span<const double> head, std::span<double> constant) {
  for (std::size_t axis = 0; axis < near_.size(); ++axis) constant[axis] = near_[axis].eliminate(head[axis]);
}

void LineImplicitBlock::complete(std::span<const double> head_velocity) {
  for (std::size_t axis = 0; axis < near_.size(); ++axis) near_[axis].complete(head_velocity[axis]);
}

void LineImplicitBlock::close() {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) advance_rest(axis);
  steps_ = 0;
}

void LineImplicitBlock::advance_rest(std::size_t axis) {
  const auto [w, p, dissipated] = axes_[axis];
  const std::int64_t reach = reach_.sites;
  int turn = 0;
  std::int64_t tile_begin = 0, tile_end = 0;
  // A piece is stored only after the next one has been loaded, which needs the old values at its edge.
  const auto store_before = [&] {
    if (tile_end > tile_begin) {
      tiles_[static_cast<std::size_t>(1 - turn)].store(reach, tile_end - tile_begin, w + tile_begin, p + tile_begin);
    } else if (at_head_) {
      near_[axis].store(0, near_count_, w, p);
    }
  };
  const std::int64_t end = at_far_end_ && reach > 0 ? count_ - reach : count_;
  const std::int64_t tiles = tile_ > 0 ? (end - near_count_ + tile_ - 1) / tile_ : 0;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t from = near_count_ + (end - near_count_) * i / tiles;
    const std::int64_t to = near_count_ + (end - near_count_) * (i + 1) / tiles;
    LineImplicitTile& mine = tiles_[static_cast<std::size_t>(turn)];
    mine.load(w + (from - reach), p + (from - reach), to - from + 2 * reach);
    store_before();
    const std::int64_t loaded = to + reach;
    // At the end of the line, and of a rank's copies, there is less.
    const auto ahead = static_cast<std::size_t>(std::min(tile_, end + reach - loaded));
    const std::span<const double> next[] = {{w + loaded, ahead}, {p + loaded, ahead}};
    mine.advance(steps_, next);
    tile_begin = from;
    tile_end = to;
    turn = 1 - turn;
  }
  if (at_far_end_ && reach > 0) {
    LineImplicitWindow& far = far_.front();
    far.load(w + (end - reach), p + (end - reach), 2 * reach, *dissipated);
    store_before();
    for (int step = 0; step < steps_; ++step) far.step();
    far.store(reach, reach, w + end, p + end);
    *dissipated = far.dissipated();
  } else {
    store_before();
    if (at_head_ && reach == 0) *dissipated = near_[axis].dissipated();
  }
}

}  // namespace bathline
