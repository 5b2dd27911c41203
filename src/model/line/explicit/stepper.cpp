// Explicit schemes on a line, blocked in time.
//
// One exchange supplies as many sites beyond each cut as the steps of a block reach. Sites near the head advance in
// lockstep with the particles, in a segment; the others advance when the block is closed, those at the far end in a
// segment and the rest by LineInterior. Every site evaluates the same expressions wherever it lies, so that neither the
// blocks nor the number of ranks change a bit of the results of the reference stepper in the tests.
//
// Sites still at rest are skipped: the front of the disturbance advances no further than the steps of a block reach.
// Where only the motion of the head is needed, sites that cannot influence the head before the end are skipped, too.
#include <algorithm>
#include <functional>

#include "model/line/explicit/interior.hpp"
#include "model/line/explicit/in_cache_stepper.hpp"
#include "model/line/state.hpp"

namespace bathline {

namespace {

/// Sites copied from the neighbour on either side.
constexpr auto halo_depth = static_cast<int>(max_tile_shift);

template <Sites S>
class LineExplicitStepper final : public ExplicitEnvironmentStepper {
 public:
  LineExplicitStepper(LineState& line, const ExplicitScheme& scheme, double h)
      : line_(line),
        scheme_(scheme),
        h_(h),
        halo_(line.layout, line.communicator, halo_depth, 2 * line.axes),
        near_(line.at_head() ? static_cast<std::size_t>(line.axes) : 0,
              LineSegment<S>(line.constants, 2 * halo_depth, stages())),
        interior_(line.constants, scheme, h),
        far_(line.is_folded() ? 2 : 1, LineSegment<S>(line.constants, 2 * halo_depth, stages())) {}

  int max_block_steps() const override;
  void begin_block(const BlockPlan& plan) override;
  void force(const HeadMotion& head, std::span<double> force) const override;
  void substep(const Substep& substep, const HeadMotion& head) override;
  void end_block() override;

 private:
  int stages() const { return static_cast<int>(scheme_.b.size()); }
  void load_near();
  /// Closes the block for the axes from `first` on that meet at the far end.
  void close_axes(int first);
  void load_far(int axis);
  void advance_interior(int axis);

  LineState& line_;
  std::shared_ptr<const LineState::FirstDisplacement> first_displacement_ =
      std::make_shared<LineState::FirstDisplacement>([this](int axis) { return near_[axis].first_w(); });
  ExplicitScheme scheme_;
  double h_;
  Halo halo_;
  std::vector<LineSegment<S>> near_;  // one per axis, on rank 0
  LineInterior<S> interior_;
  std::vector<LineSegment<S>> far_;  // two where strands are joined
  std::vector<double*> arrays_;

  // Of the open block:
  BlockPlan plan_;
  std::vector<S> sites_;         // by axis
  std::int64_t overlap_ = 0;     // sites that its steps reach
  std::int64_t front_ = 0;       // own sites from here on are at rest, or will not influence the head any more
  std::int64_t available_ = 0;   // own sites and those copied behind them
  std::int64_t near_count_ = 0;  // sites that advance in lockstep with the particles
  std::int64_t end_ = 0;         // of the interior
};

template <Sites S>
int LineExplicitStepper<S>::max_block_steps() const {
  // The sites that influence the particles within a block must be on rank 0.
  const std::int64_t depth =
      line_.layout.active_ranks() == 1 ? halo_depth : std::min<std::int64_t>(halo_depth, line_.layout.count(0));
  return scheme_.steps_within(depth);
}

template <Sites S>
void LineExplicitStepper<S>::begin_block(const BlockPlan& plan) {
  plan_ = plan;
  sites_.clear();
  for (int axis = 0; axis < line_.axes; ++axis) sites_.push_back(std::get<S>(line_.material(axis)));
  overlap_ = scheme_.reach(plan.steps);
  line_.mark_active(line_.active_end + overlap_);
  // One more site, as the first one acts on the head at the end as well.
  const std::int64_t needed =
      plan.steps_left ? std::min(line_.sites(), 1 + *plan.steps_left * scheme_.reach(1)) : line_.sites();
  front_ = std::min(line_.active_end, needed) - line_.first_site();
  arrays_.clear();
  for (int axis = 0; axis < line_.axes; ++axis) {
    for (AlignedVector* field : {&line_.w[axis], &line_.p[axis]}) arrays_.push_back(line_.own(*field) - halo_.left());
  }
  halo_.exchange(arrays_);
  available_ = line_.count + halo_.right();
  near_count_ = 0;
  if (line_.at_head()) load_near();
  // The interior ends at least the overlap before the far end, whichever rank has that.
  const bool sees_last = line_.first_site() + available_ == line_.sites();
  end_ = std::max(near_count_, sees_last ? std::min(line_.count, available_ - overlap_) : line_.count);
}

template <Sites S>
void LineExplicitStepper<S>::load_near() {
  const bool all = line_.sites() == line_.count && line_.count <= 2 * overlap_;
  near_count_ = all ? line_.count : std::min(line_.count, overlap_);
  const std::int64_t loaded = std::min(available_, near_count_ + overlap_);
  for (int axis = 0; axis < line_.axes; ++axis) {
    near_[axis].load({.w = line_.own(line_.w[axis]),
                      .p = line_.own(line_.p[axis]),
                      .count = loaded,
                      .sites = sites_[axis],
                      .at_head = true,
                      .at_far_end = loaded == line_.sites(),
                      .dissipated = line_.dissipated[axis],
                      .joined = line_.is_folded() ? &near_[line_.joined_axis(axis)] : nullptr});
  }
  line_.open_block = first_displacement_;
}

template <Sites S>
void LineExplicitStepper<S>::force(const HeadMotion& head, std::span<double> force) const {
  for (int axis = 0; axis < line_.axes; ++axis) force[axis] = near_[axis].force(head.x[axis]);
}

template <Sites S>
void LineExplicitStepper<S>::substep(const Substep& substep, const HeadMotion& head) {
  for (int axis = 0; axis < line_.axes; ++axis) near_[axis].substep(substep, scheme_, h_, head.x[axis]);
}

template <Sites S>
void LineExplicitStepper<S>::end_block() {
  for (int axis = 0; axis < line_.axes; axis += static_cast<int>(far_.size())) close_axes(axis);
  line_.open_block.reset();
}

template <Sites S>
void LineExplicitStepper<S>::close_axes(int first) {
  const int end = first + static_cast<int>(far_.size());
  // Loaded before the interior makes the sites next to it invalid.
  const bool has_far_segment = end_ < std::min(line_.count, front_);
  for (int axis = first; axis < end && has_far_segment; ++axis) load_far(axis);
  for (int axis = first; axis < end; ++axis) {
    advance_interior(axis);
    if (line_.at_head() && near_count_ == line_.sites()) line_.dissipated[axis] = near_[axis].dissipated();
  }
  if (!has_far_segment) return;
  for (int step = 0; step < plan_.steps; ++step) {
    for (const Substep& substep : scheme_.substeps) {
      for (LineSegment<S>& far : far_) far.substep(substep, scheme_, h_, 0.0);
    }
  }
  for (int axis = first; axis < end; ++axis) {
    const LineSegment<S>& far = far_[static_cast<std::size_t>(axis - first)];
    far.store(overlap_, line_.count - end_, line_.own(line_.w[axis]) + end_, line_.own(line_.p[axis]) + end_);
    if (line_.at_far_end) line_.dissipated[axis] = far.dissipated();
  }
}

template <Sites S>
void LineExplicitStepper<S>::load_far(int axis) {
  const std::int64_t from = end_ - overlap_;
  const std::size_t strand = static_cast<std::size_t>(line_.strand(axis));
  far_[strand].load({.w = line_.own(line_.w[axis]) + from,
                     .p = line_.own(line_.p[axis]) + from,
                     .count = available_ - from,
                     .sites = sites_from(sites_[axis], from),
                     .at_far_end = true,
                     .dissipated = line_.dissipated[axis],
                     .joined = line_.is_folded() ? &far_[1 - strand] : nullptr});
}

template <Sites S>
void LineExplicitStepper<S>::advance_interior(int axis) {
  double* w = line_.own(line_.w[axis]);
  double* p = line_.own(line_.p[axis]);
  if (plan_.wants_energy) line_.begin_energies(axis);
  const auto done = [&](std::int64_t stop) {
    if (stop == near_count_ && stop > 0) near_[axis].store(0, stop, w, p);
    // The spring behind the last of these sites ends at the next one.
    if (plan_.wants_energy) line_.add_energies(axis, stop - 1);
  };
  interior_.advance({w, p, sites_[axis], near_count_, std::min(end_, front_), line_.room_before}, plan_.steps,
                    std::ref(done));
}

}  // namespace

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(LineState& line,
                                                                              const ExplicitScheme& scheme, double h) {
  const auto make = [&]<Sites S>(const S&) -> std::unique_ptr<ExplicitEnvironmentStepper> {
    return std::make_unique<LineExplicitStepper<S>>(line, scheme, h);
  };
  return make_in_cache_explicit_stepper(line, scheme, h, std::visit(make, line.material()));
}

}  // namespace bathline
