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
#include <optional>

#include "model/line/explicit/passes.hpp"
#include "model/line/state.hpp"
#include "model/line/explicit/sweeps.hpp"
#include "model/line/explicit/tile.hpp"
#include "model/line/explicit/window.hpp"

namespace bathline {

namespace {

/// Sites copied from the neighbours on each side.
constexpr int halo_depth = static_cast<int>(LineTile::furthest);
/// Sites that a window owns; with its overlap it fits the first-level cache.
constexpr std::int64_t window = 1536;

class LineExplicitMarch final : public ExplicitMarch {
 public:
  LineExplicitMarch(LineState& line, const ExplicitScheme& scheme, double h)
      : line_(line),
        scheme_(scheme),
        h_(h),
        halo_(line.layout, line.communicator, halo_depth, 2 * line.axes),
        near_(line.at_head() ? static_cast<std::size_t>(line.axes) : 0,
              LineWindow(line.constants, 2 * halo_depth, stages())),
        windows_(2, LineWindow(line.constants, window + 2 * halo_depth, stages())) {
    if (stages() == 0) tile_.emplace(line.is_uniform());
  }

  int limit() const override;
  void open(const BlockPlan& plan) override;
  void force(const HeadMotion& head, std::span<double> force) const override;
  void substep(const Substep& substep, const HeadMotion& head) override;
  void close() override;

 private:
  int stages() const { return static_cast<int>(scheme_.b.size()); }
  void advance_in_windows(int axis);
  void advance_in_tiles(int axis, std::int64_t end);
  void advance_in_place(int axis, std::int64_t end);
  /// Whether the block's steps can change the sites from `begin` on, and whoever asks for something can see it.
  bool matters(std::int64_t begin) const;
  void store_near(int axis);
  /// Loads what the sites from `begin` to before `end` depend on.
  void load(LineWindow& window, int axis, std::int64_t begin, std::int64_t end);
  void advance(LineWindow& window, int axis, bool holds_last);

  LineState& line_;
  ExplicitScheme scheme_;
  double h_;
  Halo halo_;
  LineSweeps sweeps_;
  std::vector<LineWindow> near_;     // one per axis, on rank 0
  std::optional<LineTile> tile_;     // for splittings
  std::vector<LineWindow> windows_;  // two, used in turn where there are no tiles
  std::vector<double*> arrays_;

  // Of the block that is open:
  BlockPlan plan_;
  std::int64_t overlap_ = 0;     // sites that its steps reach
  std::int64_t moved_ = 0;       // sites before this one have moved before
  std::int64_t needed_ = 0;      // sites from this one on will not be felt any more
  std::int64_t near_count_ = 0;  // sites that advance in lockstep with the particles
  bool adds_energies_ = false;
};

int LineExplicitMarch::limit() const {
  // What the particles can reach within a block has to lie on their rank.
  const std::int64_t depth =
      line_.layout.holders() == 1 ? halo_depth : std::min<std::int64_t>(halo_depth, line_.layout.count(0));
  int steps = 1;
  while (scheme_.reach(steps + 1) <= depth) ++steps;
  return steps;
}

void LineExplicitMarch::open(const BlockPlan& plan) {
  plan_ = plan;
  overlap_ = scheme_.reach(plan.steps);
  moved_ = line_.moved;
  // The first site pulls at the end as well.
  needed_ = plan.steps_left ? std::min(line_.sites(), 1 + *plan.steps_left * scheme_.reach(1)) : line_.sites();
  if (tile_) sweeps_.set(scheme_, h_, plan.steps);
  line_.touch(moved_ + overlap_);
  arrays_.clear();
  for (int axis = 0; axis < line_.axes; ++axis) {
    for (AlignedVector* field : {&line_.w[axis], &line_.p[axis]}) arrays_.push_back(line_.own(*field) - halo_.left());
  }
  halo_.exchange(arrays_);
  near_count_ = 0;
  if (!line_.at_head()) return;
  const std::int64_t available = line_.count + halo_.right();
  const bool all = line_.sites() == line_.count && line_.count <= 2 * overlap_;
  near_count_ = all ? line_.count : std::min(line_.count, overlap_);
  const std::int64_t loaded = std::min(available, near_count_ + overlap_);
  for (int axis = 0; axis < line_.axes; ++axis) {
    near_[axis].load(line_.own(line_.w[axis]), line_.own(line_.p[axis]), loaded, line_.springs(), true,
                     loaded == line_.sites(), line_.dissipated[axis]);
  }
}

void LineExplicitMarch::force(const HeadMotion& head, std::span<double> force) const {
  for (int axis = 0; axis < line_.axes; ++axis) {
    force[axis] = line_.head_stiffness * (near_[axis].first() - head.x[axis]);
  }
}

void LineExplicitMarch::substep(const Substep& substep, const HeadMotion& head) {
  for (int axis = 0; axis < line_.axes; ++axis) near_[axis].substep(substep, scheme_, h_, head.x[axis]);
}

void LineExplicitMarch::load(LineWindow& window, int axis, std::int64_t begin, std::int64_t end) {
  const std::int64_t from = begin - overlap_;
  const std::int64_t to = std::min(line_.count + halo_.right(), end + overlap_);
  window.load(line_.own(line_.w[axis]) + from, line_.own(line_.p[axis]) + from, to - from, line_.springs().from(from),
              false, line_.first_site() + to == line_.sites(), line_.dissipated[axis]);
}

void LineExplicitMarch::advance(LineWindow& window, int axis, bool holds_last) {
  for (int step = 0; step < plan_.steps; ++step) {
    for (const Substep& substep : scheme_.substeps) window.substep(substep, scheme_, h_, 0.0);
  }
  if (holds_last) line_.dissipated[axis] = window.dissipated();
}

void LineExplicitMarch::close() {
  const bool near_owns_last = near_count_ == line_.sites();
  // Tiles and what is done in place keep away from the far end, whose window does not own more than the overlap.
  const std::int64_t available = line_.count + halo_.right();
  const bool sees_last = line_.first_site() + available == line_.sites();
  const std::int64_t end = std::max(near_count_, sees_last ? std::min(line_.count, available - overlap_) : line_.count);
  const bool in_place = tile_ && sweeps_.levels().size() <= levels_in_passes && end > near_count_;
  adds_energies_ = plan_.wants_energy && !in_place;
  const bool to_far_end = tile_ && end < line_.count && matters(end);
  for (int axis = 0; axis < line_.axes; ++axis) {
    if (adds_energies_) line_.begin_energies(axis);
    if (to_far_end) load(windows_[0], axis, end, line_.count);
    if (in_place) {
      advance_in_place(axis, end);
    } else if (tile_) {
      advance_in_tiles(axis, end);
    } else {
      advance_in_windows(axis);
    }
    if (to_far_end) {
      advance(windows_[0], axis, line_.first_site() + line_.count == line_.sites());
      windows_[0].store(overlap_, line_.count - end, line_.own(line_.w[axis]) + end, line_.own(line_.p[axis]) + end);
    }
    if (line_.at_head() && near_owns_last) line_.dissipated[axis] = near_[axis].dissipated();
  }
}

bool LineExplicitMarch::matters(std::int64_t begin) const {
  return line_.first_site() + begin - overlap_ < moved_ && line_.first_site() + begin < needed_;
}

void LineExplicitMarch::store_near(int axis) {
  if (near_count_ == 0) return;
  near_[axis].store(0, near_count_, line_.own(line_.w[axis]), line_.own(line_.p[axis]));
  // The spring behind the last site ends at the next piece.
  if (adds_energies_) line_.add_energies(axis, near_count_ - 1);
}

void LineExplicitMarch::advance_in_windows(int axis) {
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
      windows_[1 - turn].store(overlap_, end - begin, line_.own(line_.w[axis]) + begin,
                               line_.own(line_.p[axis]) + begin);
      if (adds_energies_) line_.add_energies(axis, end - 1);
    }
  };
  for (std::int64_t begin = near_count_; begin < line_.count && matters(begin); begin = pending.end) {
    const std::int64_t end = std::min(begin + window, line_.count);
    load(windows_[turn], axis, begin, end);
    store_pending();
    advance(windows_[turn], axis, line_.first_site() + end == line_.sites());
    pending = {begin, end};
    turn = 1 - turn;
  }
  store_pending();
}

/// From the near sites, which are stored on the way, to `end`.
void LineExplicitMarch::advance_in_tiles(int axis, std::int64_t end) {
  double* w = line_.own(line_.w[axis]);
  double* p = line_.own(line_.p[axis]);
  const LineSprings line = line_.springs();
  // On its way a tile moves by the overlap. What the first one gets wrong belongs to the window near the head or to the
  // rank before.
  const std::int64_t last = end + overlap_;
  std::int64_t from = near_count_ - overlap_, done = near_count_;
  while (done < end && matters(done)) {
    const std::int64_t to = std::min(from + LineTile::capacity, last);
    const std::int64_t moved_to = from - overlap_, stop = to - overlap_;
    tile_->advance({.w = w + from,
                    .p = p + from,
                    .springs = line.from(from),
                    .count = to - from,
                    .springs_before = line_.room_before + from,
                    .ahead = std::min(to + LineTile::capacity, last) - to},
                   sweeps_.levels(), {.offset = done - moved_to, .count = stop - done, .w = w + done, .p = p + done});
    if (done == near_count_) store_near(axis);
    if (adds_energies_) line_.add_energies(axis, stop - 1);
    done = stop;
    from = to;
  }
  if (done == near_count_) store_near(axis);
}

/// On both sides the sites within reach of those from the near ones to `end` become worthless: the near ones are stored
/// afterwards, as is the far end by the caller, or they are exchanged.
void LineExplicitMarch::advance_in_place(int axis, std::int64_t end) {
  const std::int64_t first = near_count_ - overlap_;
  const std::int64_t front = std::min(line_.moved, needed_) - line_.first_site();
  const std::int64_t last = std::min(end, std::max(front, near_count_)) + overlap_;
  advance_in_passes(line_.springs(), sweeps_.levels(), first, last, line_.own(line_.w[axis]), line_.own(line_.p[axis]));
  store_near(axis);
}

}  // namespace

std::unique_ptr<ExplicitMarch> make_explicit_march(LineState& line, const ExplicitScheme& scheme, double h) {
  return std::make_unique<LineExplicitMarch>(line, scheme, h);
}

}  // namespace bathline
