// Explicit schemes on a line that fits into the cache.
//
// The whole line is copied into lanes for a block of steps. The sites next to the head advance in lockstep with it in
// registers; a sweep then advances all sites by several levels of kicks and drifts, and takes its first sites, which it
// cannot compute, from these registers. A segment does the same at a far end that has no mirror image. Short lines
// without a matched one advance as a whole in lockstep with the head.
// Tested by tests/model/line/explicit/stepper_test.cpp.
#include "model/line/explicit/in_cache_stepper.hpp"

#include <algorithm>
#include <array>

#include "model/line/explicit/lane_partitioned_line.hpp"
#include "model/line/explicit/near_head.hpp"
#include "model/line/explicit/segment.hpp"
#include "model/line/state.hpp"

namespace bathline {

namespace {

/// Maximum number of steps of a block: copying in and out takes at most a hundredth of its time.
constexpr int max_steps = 256;
/// Lines of up to this many sites advance in lockstep with the head, which is faster than sweeps.
constexpr std::int64_t max_in_lockstep = 256;
/// Shorter blocks use the fallback, unless the line is in lockstep.
constexpr int min_steps = 4;
/// Bytes of a line's sites that fit into the second-level cache.
constexpr std::int64_t max_bytes = 384 * 1024;

template <Sites S>
class InCacheExplicitStepper final : public ExplicitEnvironmentStepper {
 public:
  InCacheExplicitStepper(LineState& line, const ExplicitScheme& scheme, double h,
                         std::unique_ptr<ExplicitEnvironmentStepper> fallback)
      : line_(line),
        scheme_(scheme),
        h_(h),
        fallback_(std::move(fallback)),
        in_lockstep_(line.sites() <= max_in_lockstep && line.constants.far_end != FarEnd::matched),
        has_far_segment_(line.constants.far_end == FarEnd::matched ||
                         (!S::is_odd && line.constants.far_end != FarEnd::joined)),
        far_(line.constants, max_end_sites, 0) {
    for (int axis = 0; axis < line.axes && line.at_head(); ++axis) {
      axes_.push_back({.line = LanePartitionedLine<S>(line.constants, line.sites()), .near = {}, .sites = {}});
    }
    // Reserved for the longest block, so that no block allocates.
    const std::size_t max_levels = max_steps * scheme.substeps.size();
    levels_.reserve(max_levels);
    groups_.reserve(max_levels);
  }

  int max_block_steps() const override {
    return is_mostly_at_rest(line_.active_end) ? fallback_->max_block_steps() : max_steps;
  }
  void begin_block(const BlockPlan& plan) override;
  void force(const HeadMotion& head, std::span<double> force) const override {
    if (uses_fallback_) return fallback_->force(head, force);
    if (in_lockstep_) {
      for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        force[axis] = force_of_spring(axes_[axis].sites, 0, axes_[axis].line.first_w(0) - head.x[axis]);
      }
      return;
    }
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) force[axis] = axes_[axis].near.force(head.x[axis]);
  }
  void substep(const Substep& substep, const HeadMotion& head) override;
  void end_block() override;

 private:
  static constexpr int max_end_sites = LanePartitionedLine<S>::max_end_sites;
  /// The fallback, which skips sites at rest, is faster then.
  bool is_mostly_at_rest(std::int64_t moving) const { return moving < line_.sites() / 4; }

  /// The levels of one sweep.
  struct Group {
    std::size_t first_level, levels;
    std::size_t end;  // of its substeps, counted from the start of the block
  };
  struct Axis {
    LanePartitionedLine<S> line;
    LineNearHead<S, max_end_sites> near;
    S sites;
    double head = 0.0;    // its displacement in the deferred kicks
    double behind = 0.0;  // displacement behind the last site
  };
  /// The other strand of a joined line, or the line itself.
  const LanePartitionedLine<S>& joined_to(std::size_t axis) const {
    return axes_[line_.joined_axis(static_cast<int>(axis))].line;
  }
  void find_groups(int steps);
  // Separate functions, as their register needs would otherwise add stack accesses to every substep.

  /// A substep of a line in lockstep: kicks are deferred to the next drift.
  [[gnu::noinline]] void substep_in_lockstep(const Substep& substep, const HeadMotion& head);
  /// A substep of the sites near the head, followed by a sweep at the end of a group.
  [[gnu::noinline]] void substep_near_head(const Substep& substep, const HeadMotion& head);
  void advance_deferred();
  void load_near(int axis);
  void sweep();
  void sweep_with_far_segment(int axis, std::span<const LineLevel> levels);

  LineState& line_;
  std::shared_ptr<const LineState::FirstDisplacement> first_displacement_ =
      std::make_shared<LineState::FirstDisplacement>([this](int axis) {
        const Axis& row = axes_[static_cast<std::size_t>(axis)];
        return in_lockstep_ ? row.line.first_w(0) : row.near.w(0);
      });
  ExplicitScheme scheme_;
  double h_;
  std::unique_ptr<ExplicitEnvironmentStepper> fallback_;
  bool in_lockstep_;        // the whole line advances in lockstep with the head
  bool has_far_segment_;    // sweeps do not know what is behind the last site
  std::vector<Axis> axes_;  // on rank 0
  LineSegment<S> far_;

  // Of the open block:
  bool uses_fallback_ = false;
  int steps_ = 0;
  std::vector<LineLevel> levels_;
  std::vector<Group> groups_;
  LineLevel deferred_;        // deferred kicks of a line in lockstep
  std::size_t group_ = 0;     // of the next sweep
  std::size_t substeps_ = 0;  // done by the head
};

template <Sites S>
void InCacheExplicitStepper<S>::find_groups(int steps) {
  if (steps == steps_ || axes_.empty()) return;
  steps_ = steps;
  make_levels(scheme_, h_, steps, levels_);
  groups_.clear();
  std::size_t substeps = 0;
  for (std::size_t level = 0; level < levels_.size();) {
    Group group{level, axes_.front().line.sweep_levels(std::span(levels_).subspan(level)), 0};
    for (; level < group.first_level + group.levels; ++level) {
      substeps += static_cast<std::size_t>(levels_[level].kicks + levels_[level].drifts);
    }
    group.end = substeps;
    groups_.push_back(group);
  }
}

template <Sites S>
void InCacheExplicitStepper<S>::begin_block(const BlockPlan& plan) {
  const bool at_rest = is_mostly_at_rest(line_.active_end) ||
                       (plan.steps_left && is_mostly_at_rest(*plan.steps_left * scheme_.reach(1)));
  uses_fallback_ = (at_rest || (plan.steps < min_steps && !in_lockstep_)) && plan.steps <= fallback_->max_block_steps();
  if (uses_fallback_) return fallback_->begin_block(plan);
  line_.mark_active(line_.active_end < line_.sites() ? line_.active_end + scheme_.reach(plan.steps) : line_.active_end);
  if (!in_lockstep_) find_groups(plan.steps);
  group_ = 0;
  substeps_ = 0;
  for (int axis = 0; axis < static_cast<int>(axes_.size()); ++axis) {
    axes_[axis].sites = std::get<S>(line_.material(axis));
    axes_[axis].line.load(axes_[axis].sites, line_.own(line_.w[axis]), line_.own(line_.p[axis]));
    if (!in_lockstep_) load_near(axis);
  }
  line_.open_block = first_displacement_;
}

template <Sites S>
void InCacheExplicitStepper<S>::load_near(int axis) {
  const LanePartitionedLine<S>& line = axes_[axis].line;
  axes_[axis].near.load(
      axes_[axis].sites, [&](int j) { return line.first_w(j); }, [&](int j) { return line.first_p(j); });
}

template <Sites S>
void InCacheExplicitStepper<S>::substep(const Substep& substep, const HeadMotion& head) {
  if (uses_fallback_) return fallback_->substep(substep, head);
  in_lockstep_ ? substep_in_lockstep(substep, head) : substep_near_head(substep, head);
}

template <Sites S>
void InCacheExplicitStepper<S>::substep_near_head(const Substep& substep, const HeadMotion& head) {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) axes_[axis].near.substep(substep, h_, head.x[axis]);
  if (++substeps_ == groups_[group_].end) sweep();
}

template <Sites S>
void InCacheExplicitStepper<S>::substep_in_lockstep(const Substep& substep, const HeadMotion& head) {
  const double weighted_step = substep.weight * h_;
  if (substep.kind == Substep::Kind::kick) {
    bool can_merge = deferred_.kicks < 2;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      can_merge = can_merge && (deferred_.kicks == 0 || axes_[axis].head == head.x[axis]);
    }
    if (!can_merge) advance_deferred();
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) axes_[axis].head = head.x[axis];
    deferred_.kick[deferred_.kicks++] = weighted_step;
  } else {
    deferred_.drift[deferred_.drifts++] = weighted_step;
    advance_deferred();
  }
}

template <Sites S>
void InCacheExplicitStepper<S>::advance_deferred() {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis)
    axes_[axis].behind = axes_[axis].line.behind_last(joined_to(axis));
  for (Axis& axis : axes_) axis.line.advance(deferred_, axis.head, axis.behind);
  deferred_.kicks = deferred_.drifts = 0;
}

template <Sites S>
void InCacheExplicitStepper<S>::sweep() {
  const Group& group = groups_[group_];
  const std::span<const LineLevel> levels = std::span(levels_).subspan(group.first_level, group.levels);
  const auto invalid = static_cast<int>(group.levels);
  for (std::size_t axis = 0; axis < axes_.size(); ++axis)
    axes_[axis].line.copy_neighbours(levels.size(), joined_to(axis));
  for (int axis = 0; axis < static_cast<int>(axes_.size()); ++axis) {
    LanePartitionedLine<S>& line = axes_[axis].line;
    const LineNearHead<S, max_end_sites>& near = axes_[axis].near;
    if (has_far_segment_) {
      sweep_with_far_segment(axis, levels);
    } else {
      line.advance(levels);
    }
    for (int j = 0; j < invalid; ++j) line.set_first(j, near.w(j), near.p(j));
    load_near(axis);
  }
  ++group_;
}

template <Sites S>
void InCacheExplicitStepper<S>::sweep_with_far_segment(int axis, std::span<const LineLevel> levels) {
  LanePartitionedLine<S>& line = axes_[axis].line;
  const int end_sites = line.end_sites();
  std::array<double, static_cast<std::size_t>(max_end_sites)> w, p;
  line.load_last(end_sites, w.data(), p.data());
  far_.load({.w = w.data(),
             .p = p.data(),
             .count = end_sites,
             .sites = sites_from(axes_[axis].sites, line_.sites() - end_sites),
             .at_far_end = true,
             .dissipated = line_.dissipated[axis]});
  for (std::size_t i = group_ > 0 ? groups_[group_ - 1].end : 0; i < groups_[group_].end; ++i) {
    far_.substep(scheme_.substeps[i % scheme_.substeps.size()], scheme_, h_, 0.0);
  }
  line_.dissipated[axis] = far_.dissipated();
  line.advance(levels);
  const auto invalid = static_cast<int>(levels.size());
  far_.store(end_sites - invalid, invalid, w.data(), p.data());
  line.store_last(invalid, w.data(), p.data());
}

template <Sites S>
void InCacheExplicitStepper<S>::end_block() {
  if (uses_fallback_) return fallback_->end_block();
  if (deferred_.kicks > 0) advance_deferred();
  for (int axis = 0; axis < static_cast<int>(axes_.size()); ++axis) {
    axes_[axis].line.store(line_.own(line_.w[axis]), line_.own(line_.p[axis]));
  }
  line_.open_block.reset();
}

}  // namespace

std::unique_ptr<ExplicitEnvironmentStepper> make_in_cache_explicit_stepper(
    LineState& line, const ExplicitScheme& scheme, double h, std::unique_ptr<ExplicitEnvironmentStepper> fallback) {
  const auto make = [&]<Sites S>(const S&) -> std::unique_ptr<ExplicitEnvironmentStepper> {
    const std::int64_t bytes = (2 * line.axes + S::rows) * line.sites() * static_cast<std::int64_t>(sizeof(double));
    const bool fits = LanePartitionedLine<S>::is_long_enough(line.sites()) && bytes <= max_bytes;
    if (!fits || line.layout.active_ranks() > 1 || !scheme.b.empty()) {
      return std::move(fallback);
    }
    return std::make_unique<InCacheExplicitStepper<S>>(line, scheme, h, std::move(fallback));
  };
  return std::visit(make, line.material());
}

}  // namespace bathline
