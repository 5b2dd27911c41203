// Explicit schemes on a line that stays in cache.
//
// The whole line is copied into lanes for a block of steps, and advances there by several levels of kicks and drifts at
// a time, once the head has been through them: what such a sweep cannot know, the sites beside the head, a small window
// has taken along in lockstep. At a matched end another one does. A line of few registers that has none goes along as a
// whole instead.
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

/// Steps of a block at most: copying in and out is no more than a hundredth of that.
constexpr int max_steps = 256;
/// So many sites go along with the head, all of them: a window near it and sweeps that catch up would cost more.
constexpr std::int64_t max_in_lockstep = 256;
/// Fewer are not worth copying for, unless the line is in lockstep.
constexpr int fewest_steps = 4;
/// Bytes of the sites that the second-level cache holds.
constexpr std::int64_t max_bytes = 384 * 1024;

template <Sites S>
class InCacheExplicitStepper final : public ExplicitEnvironmentStepper {
 public:
  InCacheExplicitStepper(LineState& line, const ExplicitScheme& scheme, double h,
                         std::unique_ptr<ExplicitEnvironmentStepper> few_steps)
      : line_(line),
        scheme_(scheme),
        h_(h),
        few_steps_(std::move(few_steps)),
        in_lockstep_(line.sites() <= max_in_lockstep && line.constants.far_end != FarEnd::matched),
        far_(line.constants, max_at_an_end, 0) {
    for (int axis = 0; axis < line.axes && line.at_head(); ++axis) {
      axes_.push_back({.line = LanePartitionedLine<S>(line.constants, line.sites()), .near = {}});
    }
    // Blocks have several lengths, and none of them allocates.
    const std::size_t max_levels = max_steps * scheme.substeps.size();
    levels_.reserve(max_levels);
    groups_.reserve(max_levels);
  }

  int max_block_steps() const override {
    return mostly_rests(line_.active_end) ? few_steps_->max_block_steps() : max_steps;
  }
  void begin_block(const BlockPlan& plan) override;
  void force(const HeadMotion& head, std::span<double> force) const override {
    if (hands_over_) return few_steps_->force(head, force);
    if (in_lockstep_) {
      for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        force[axis] = force_of_spring(sites_, 0, axes_[axis].line.first_w(0) - head.x[axis]);
      }
      return;
    }
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) force[axis] = axes_[axis].near.force(head.x[axis]);
  }
  void substep(const Substep& substep, const HeadMotion& head) override;
  void end_block() override;

 private:
  static constexpr int max_at_an_end = LanePartitionedLine<S>::max_at_an_end;
  /// What leaves out most of the sites is faster than all of them in lanes.
  bool mostly_rests(std::int64_t moving) const { return moving < line_.sites() / 4; }

  /// Levels of a sweep, as many as it has kicks and drifts.
  struct Group {
    std::size_t first_level, levels;
    std::size_t end;  // of its substeps, counted from the start of the block
  };
  struct Axis {
    LanePartitionedLine<S> line;
    LineNearHead<S, max_at_an_end> near;
    double head = 0.0;  // in the kicks that wait
  };
  void find_groups(int steps);
  // Apart, since the registers of the one would cost the other a stack of its own in every substep.

  /// A substep in lockstep: kicks wait for the drift that they go along with.
  [[gnu::noinline]] void take_along(const Substep& substep, const HeadMotion& head);
  /// A substep of the sites near the head, and a sweep where one is due.
  [[gnu::noinline]] void take_near(const Substep& substep, const HeadMotion& head);
  void advance_deferred();
  void load_near(int axis);
  void sweep();
  void sweep_with_dashpot(int axis, std::span<const LineLevel> levels);

  LineState& line_;
  ExplicitScheme scheme_;
  double h_;
  std::unique_ptr<ExplicitEnvironmentStepper> few_steps_;
  bool in_lockstep_;        // the whole line goes along with the head
  std::vector<Axis> axes_;  // on rank 0
  LineSegment<S> far_;

  // Of the block that is open:
  bool hands_over_ = false;
  int steps_ = 0;
  std::vector<LineLevel> levels_;
  std::vector<Group> groups_;
  S sites_;
  LineLevel deferred_;        // kicks of a line in lockstep
  std::size_t group_ = 0;     // the next that a sweep takes
  std::size_t substeps_ = 0;  // that the head has been through
};

template <Sites S>
void InCacheExplicitStepper<S>::find_groups(int steps) {
  if (steps == steps_ || axes_.empty()) return;
  steps_ = steps;
  make_levels(scheme_, h_, steps, levels_);
  groups_.clear();
  std::size_t substeps = 0;
  for (std::size_t level = 0; level < levels_.size();) {
    Group group{level, axes_.front().line.at_once(std::span(levels_).subspan(level)), 0};
    for (; level < group.first_level + group.levels; ++level) {
      substeps += static_cast<std::size_t>(levels_[level].kicks + levels_[level].drifts);
    }
    group.end = substeps;
    groups_.push_back(group);
  }
}

template <Sites S>
void InCacheExplicitStepper<S>::begin_block(const BlockPlan& plan) {
  const bool rests =
      mostly_rests(line_.active_end) || (plan.steps_left && mostly_rests(*plan.steps_left * scheme_.reach(1)));
  hands_over_ = (rests || (plan.steps < fewest_steps && !in_lockstep_)) && plan.steps <= few_steps_->max_block_steps();
  if (hands_over_) return few_steps_->begin_block(plan);
  line_.mark_active(line_.active_end < line_.sites() ? line_.active_end + scheme_.reach(plan.steps) : line_.active_end);
  if (!in_lockstep_) find_groups(plan.steps);
  sites_ = std::get<S>(line_.material());
  group_ = 0;
  substeps_ = 0;
  for (int axis = 0; axis < static_cast<int>(axes_.size()); ++axis) {
    axes_[axis].line.load(sites_, line_.own(line_.w[axis]), line_.own(line_.p[axis]));
    if (!in_lockstep_) load_near(axis);
  }
}

template <Sites S>
void InCacheExplicitStepper<S>::load_near(int axis) {
  const LanePartitionedLine<S>& line = axes_[axis].line;
  axes_[axis].near.load(
      sites_, [&](int j) { return line.first_w(j); }, [&](int j) { return line.first_p(j); });
}

template <Sites S>
void InCacheExplicitStepper<S>::substep(const Substep& substep, const HeadMotion& head) {
  if (hands_over_) return few_steps_->substep(substep, head);
  in_lockstep_ ? take_along(substep, head) : take_near(substep, head);
}

template <Sites S>
void InCacheExplicitStepper<S>::take_near(const Substep& substep, const HeadMotion& head) {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) axes_[axis].near.substep(substep, h_, head.x[axis]);
  if (++substeps_ == groups_[group_].end) sweep();
}

template <Sites S>
void InCacheExplicitStepper<S>::take_along(const Substep& substep, const HeadMotion& head) {
  const double seconds = substep.weight * h_;
  if (substep.kind == Substep::Kind::kick) {
    bool goes_along = deferred_.kicks < 2;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      goes_along = goes_along && (deferred_.kicks == 0 || axes_[axis].head == head.x[axis]);
    }
    if (!goes_along) advance_deferred();
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) axes_[axis].head = head.x[axis];
    deferred_.kick[deferred_.kicks++] = seconds;
  } else {
    deferred_.drift[deferred_.drifts++] = seconds;
    advance_deferred();
  }
}

template <Sites S>
void InCacheExplicitStepper<S>::advance_deferred() {
  for (auto& [line, near, head] : axes_) line.advance(deferred_, head);
  deferred_.kicks = deferred_.drifts = 0;
}

template <Sites S>
void InCacheExplicitStepper<S>::sweep() {
  const Group& group = groups_[group_];
  const std::span<const LineLevel> levels = std::span(levels_).subspan(group.first_level, group.levels);
  const auto worthless = static_cast<int>(group.levels);
  for (int axis = 0; axis < static_cast<int>(axes_.size()); ++axis) {
    auto& [line, near, head] = axes_[axis];
    if (line_.constants.far_end == FarEnd::matched) {
      sweep_with_dashpot(axis, levels);
    } else {
      line.advance(levels);
    }
    for (int j = 0; j < worthless; ++j) line.set_first(j, near.w(j), near.p(j));
    load_near(axis);
  }
  ++group_;
}

template <Sites S>
void InCacheExplicitStepper<S>::sweep_with_dashpot(int axis, std::span<const LineLevel> levels) {
  LanePartitionedLine<S>& line = axes_[axis].line;
  const int at_an_end = line.at_an_end();
  std::array<double, static_cast<std::size_t>(max_at_an_end)> w, p;
  line.load_last(at_an_end, w.data(), p.data());
  far_.load({.w = w.data(),
             .p = p.data(),
             .count = at_an_end,
             .sites = sites_from(sites_, line_.sites() - at_an_end),
             .at_far_end = true,
             .dissipated = line_.dissipated[axis]});
  for (std::size_t i = group_ > 0 ? groups_[group_ - 1].end : 0; i < groups_[group_].end; ++i) {
    far_.substep(scheme_.substeps[i % scheme_.substeps.size()], scheme_, h_, 0.0);
  }
  line_.dissipated[axis] = far_.dissipated();
  line.advance(levels);
  const auto worthless = static_cast<int>(levels.size());
  far_.store(at_an_end - worthless, worthless, w.data(), p.data());
  line.store_last(worthless, w.data(), p.data());
}

template <Sites S>
void InCacheExplicitStepper<S>::end_block() {
  if (hands_over_) return few_steps_->end_block();
  if (deferred_.kicks > 0) advance_deferred();
  for (int axis = 0; axis < static_cast<int>(axes_.size()); ++axis) {
    axes_[axis].line.store(line_.own(line_.w[axis]), line_.own(line_.p[axis]));
  }
}

}  // namespace

std::unique_ptr<ExplicitEnvironmentStepper> make_in_cache_explicit_stepper(
    LineState& line, const ExplicitScheme& scheme, double h, std::unique_ptr<ExplicitEnvironmentStepper> otherwise) {
  const auto make = [&]<Sites S>(const S&) -> std::unique_ptr<ExplicitEnvironmentStepper> {
    const std::int64_t bytes = (2 * line.axes + S::rows) * line.sites() * static_cast<std::int64_t>(sizeof(double));
    const bool fits = LanePartitionedLine<S>::takes(line.sites()) && bytes <= max_bytes;
    if (!fits || line.layout.active_ranks() > 1 || !scheme.b.empty()) {
      return std::move(otherwise);
    }
    return std::make_unique<InCacheExplicitStepper<S>>(line, scheme, h, std::move(otherwise));
  };
  return std::visit(make, line.material());
}

}  // namespace bathline
