// Implicit steps of a uniform line in blocks of steps, without any message within a block.
//
// One exchange supplies as many sites beyond each cut as the block's steps reach to within round-off. The sites near
// the head advance in lockstep with the particles; all others in tiles that overlap by the same reach and stay in cache
// for all steps of the block, or, at the far end, in a window with what closes the line there. A line that lies within
// few sites of its head on one rank is all one window, and exact.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "model/line/implicit/reach.hpp"
#include "model/line/state.hpp"
#include "parallel/communicator.hpp"
#include "parallel/halo.hpp"
#include "parallel/layout.hpp"

namespace bathline {

/// What blocks of any implicit scheme have in common; `Tile` and `Window` take pieces through the scheme's steps.
template <class Tile, class Window>
class LineBlock {
 public:
  /// No block reaches further than this.
  static constexpr int widest = LineState::widest;

  /// Steps that a block may have.
  int limit() const { return reach_.steps; }
  bool is_open() const { return steps_ > 0; }
  /// @note Collective.
  void open(LineState& line, int steps);
  /// The sites that the particles cannot feel within the block catch up.
  void close();

 protected:
  /// The cheapest reach where there is one, within the sites of every rank. The same on every rank.
  template <class Recursion>
  static ImplicitReach find_reach(const Recursion& recursion, const Layout& layout);
  /// `window(place, sites)` makes a window. @note Collective.
  template <class Recursion, class MakeWindow>
  LineBlock(const Recursion& recursion, MakeWindow window, const ImplicitReach& reach, const Layout& layout,
            const Communicator& communicator, int axes);

  std::vector<Window> near_;  // one per axis, on rank 0

 private:
  /// This rank's own sites along an axis, with room for `widest` copied ones before and behind, as far as there are
  /// any, and what a dashpot on the last of all sites has taken, in J.
  struct Axis {
    double* w;
    double* p;
    double* dissipated;
  };
  void advance_rest(std::size_t axis);

  ImplicitReach reach_;     // no sites where the whole line is one window
  std::vector<Axis> axes_;  // of the open block
  bool at_head_;
  bool at_far_end_;
  std::int64_t count_;
  std::int64_t near_count_;  // sites that advance in lockstep with the particles
  std::unique_ptr<Halo> halo_;
  std::vector<double*> halo_fields_;
  std::vector<Window> far_;              // one, on the rank of the far end
  std::optional<Tile> tile_;             // on ranks with sites
  std::int64_t tile_sites_ = 0;          // that it may own
  std::vector<double> late_w_, late_p_;  // the tile's last sites, until the next piece has been loaded
  int steps_ = 0;                        // of the open block
};

template <class Tile, class Window>
template <class Recursion>
ImplicitReach LineBlock<Tile, Window>::find_reach(const Recursion& recursion, const Layout& layout) {
  // Nothing is wrong with blocks of a line in one window, however long.
  constexpr int longest = 64;
  const int holders = layout.holders();
  const std::int64_t least = std::min(layout.count(0), layout.count(holders - 1));
  const std::int64_t limit = holders == 1 ? widest : std::min<std::int64_t>(widest, least);
  const ImplicitReach reach = cheapest_reach(recursion, limit);
  if (holders == 1 && layout.total() <= 4 * (reach.steps > 0 ? reach.sites : limit)) return {longest, 0};
  return reach;
}

template <class Tile, class Window>
template <class Recursion, class MakeWindow>
LineBlock<Tile, Window>::LineBlock(const Recursion& recursion, MakeWindow window, const ImplicitReach& reach,
                                   const Layout& layout, const Communicator& communicator, int axes)
    : reach_(reach),
      at_head_(communicator.is_root()),
      at_far_end_(communicator.rank() == layout.holders() - 1),
      count_(layout.count(communicator.rank())),
      near_count_(at_head_ ? reach.sites : 0) {
  using Place = typename Window::Place;
  const auto add = [&](std::vector<Window>& windows, int number, Place place, std::int64_t sites) {
    for (int i = 0; i < number; ++i) windows.push_back(window(place, sites));
  };
  if (reach.sites == 0) {
    near_count_ = count_;
    if (at_head_) add(near_, axes, Place::whole, count_);
    return;
  }
  halo_ = std::make_unique<Halo>(layout, communicator, static_cast<int>(reach.sites), 2 * axes);
  if (at_head_) add(near_, axes, Place::head, 2 * reach.sites);
  if (at_far_end_) add(far_, 1, Place::far_end, 2 * reach.sites);
  if (count_ == 0) return;
  const std::int64_t capacity = Tile::capacity_for(recursion, reach.sites);
  tile_sites_ = capacity - 2 * reach.sites;
  tile_.emplace(recursion, capacity);
  late_w_.resize(static_cast<std::size_t>(reach.sites));
  late_p_.resize(late_w_.size());
}

template <class Tile, class Window>
void LineBlock<Tile, Window>::open(LineState& line, int steps) {
  line.touch(line.sites());
  steps_ = steps;
  axes_.clear();
  for (int axis = 0; axis < line.axes; ++axis) {
    axes_.push_back({line.own(line.w[axis]), line.own(line.p[axis]), &line.dissipated[axis]});
  }
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

template <class Tile, class Window>
void LineBlock<Tile, Window>::close() {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) advance_rest(axis);
  steps_ = 0;
}

template <class Tile, class Window>
void LineBlock<Tile, Window>::advance_rest(std::size_t axis) {
  double* const w = axes_[axis].w;
  double* const p = axes_[axis].p;
  double* const dissipated = axes_[axis].dissipated;
  const std::int64_t reach = reach_.sites;
  // The next piece is loaded with the old values of sites before it, so these are stored only afterwards.
  bool near_is_late = at_head_ && near_count_ > 0;
  std::int64_t late_begin = 0, late_count = 0;
  const auto store_late = [&] {
    if (near_is_late) near_[axis].store(0, near_count_, w, p);
    std::copy_n(late_w_.begin(), late_count, w + late_begin);
    std::copy_n(late_p_.begin(), late_count, p + late_begin);
    near_is_late = false;
    late_count = 0;
  };
  const std::int64_t end = at_far_end_ && reach > 0 ? count_ - reach : count_;
  const std::int64_t tiles = tile_ ? (end - near_count_ + tile_sites_ - 1) / tile_sites_ : 0;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t from = near_count_ + (end - near_count_) * i / tiles;
    const std::int64_t to = near_count_ + (end - near_count_) * (i + 1) / tiles;
    tile_->load(w + (from - reach), p + (from - reach), to - from + 2 * reach);
    store_late();
    const std::int64_t loaded = to + reach;
    // At the end of the line, and of a rank's copies, there is less.
    const auto ahead = static_cast<std::size_t>(std::min(tile_sites_, end + reach - loaded));
    const std::span<const double> next[] = {{w + loaded, ahead}, {p + loaded, ahead}};
    tile_->advance(steps_, next);
    late_count = std::min(reach, to - from);
    late_begin = to - late_count;
    std::copy_n(w + late_begin, late_count, late_w_.begin());
    std::copy_n(p + late_begin, late_count, late_p_.begin());
    tile_->store(reach, to - from, w + from, p + from);
    std::swap_ranges(w + late_begin, w + to, late_w_.begin());
    std::swap_ranges(p + late_begin, p + to, late_p_.begin());
  }
  if (at_far_end_ && reach > 0) {
    Window& far = far_.front();
    far.load(w + (end - reach), p + (end - reach), 2 * reach, *dissipated);
    store_late();
    for (int step = 0; step < steps_; ++step) far.step();
    far.store(reach, reach, w + end, p + end);
    *dissipated = far.dissipated();
  } else {
    store_late();
    if (at_head_ && reach == 0) *dissipated = near_[axis].dissipated();
  }
}

}  // namespace bathline
