// Implicit steps of a uniform line in blocks of steps without messages within a block.
//
// One exchange supplies as many sites beyond each cut as the steps of a block reach, to within round-off. The sites
// near the head advance in lockstep with the particles in a segment, all others in tiles that overlap by the same reach
// and stay in cache for all steps of the block. Behind a fixed or free end the line continues as its mirror image, of
// which a tile includes as much as the steps reach; a matched end has a segment of its own. A short line on one rank is
// a single segment, without truncation.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "model/line/implicit/one_stage_tile.hpp"
#include "model/line/implicit/reach.hpp"
#include "model/line/implicit/stage_tile.hpp"
#include "model/line/implicit/segment.hpp"
#include "model/line/state.hpp"
#include "parallel/halo.hpp"

namespace bathline {

/// Steps with S stages, only within blocks.
template <int S>
class LineBlockStepper final : public ImplicitEnvironmentStepper {
 public:
  using Tile = std::conditional_t<S == 1, LineOneStageTile, LineStageTile>;
  using Segment = LineImplicitSegment<S>;
  using Step = typename Segment::Step;

  /// The cheapest reach within the sites of every rank; 0 sites if the whole line is one segment, 0 steps if no block
  /// is possible. The same on every rank.
  static ImplicitReach find_reach(const LineRecursion& recursion, const Layout& layout);
  /// @note Collective.
  LineBlockStepper(LineState& line, const Step& step, const LineRecursion& recursion, const ImplicitReach& reach);

  int max_block_steps() const override { return reach_.steps; }
  void begin_block(const BlockPlan& plan) override;
  /// Advances the sites that do not influence the particles within the block.
  void end_block() override;
  bool condense(std::span<const double> head, StageResponse& response) override;
  void back_substitute(const Eigen::MatrixXd& head_velocities) override;

 private:
  void advance_other_sites(int axis);
  void load_tile(const double* w, const double* p, std::int64_t from, std::int64_t count);

  LineState& line_;
  std::shared_ptr<const LineState::FirstDisplacement> first_displacement_ =
      std::make_shared<LineState::FirstDisplacement>(
          [this](int axis) { return near_[static_cast<std::size_t>(axis)].first_w(); });
  ImplicitReach reach_;
  std::int64_t near_count_;    // sites that advance in lockstep with the particles
  std::vector<Segment> near_;  // one per axis, on rank 0
  std::unique_ptr<Halo> halo_;
  std::vector<double*> halo_fields_;
  std::optional<Segment> far_;                   // on the rank of a matched far end
  std::optional<Tile> tile_;                     // on ranks with sites
  std::int64_t tile_sites_ = 0;                  // maximum number of sites that it stores
  std::vector<double> mirrored_w_, mirrored_p_;  // sites of a tile that includes mirrored ones
  std::vector<double> pending_w_, pending_p_;    // the tile's last sites, stored after the next piece has been loaded
  int steps_ = 0;                                // of the open block
};

template <int S>
ImplicitReach LineBlockStepper<S>::find_reach(const LineRecursion& recursion, const Layout& layout) {
  // A line in one segment allows blocks of any length.
  constexpr int max_steps = 64;
  const int active_ranks = layout.active_ranks();
  const std::int64_t limit =
      active_ranks == 1 ? LineState::max_halo : std::min(LineState::max_halo, layout.min_count());
  const ImplicitReach reach = cheapest_reach<Tile>(recursion, limit, layout.total());
  if (active_ranks == 1 && layout.total() <= 4 * (reach.steps > 0 ? reach.sites : limit)) return {max_steps, 0};
  return reach;
}

template <int S>
LineBlockStepper<S>::LineBlockStepper(LineState& line, const Step& step, const LineRecursion& recursion,
                                      const ImplicitReach& reach)
    : line_(line), reach_(reach), near_count_(line.at_head() ? reach.sites : 0) {
  using Position = typename Segment::Position;
  const auto add_near = [&](Position position, std::int64_t sites) {
    for (int axis = 0; axis < line.axes && line.at_head(); ++axis) near_.emplace_back(step, position, sites);
  };
  if (reach.sites == 0) {
    near_count_ = line.count;
    add_near(Position::whole, line.count);
    return;
  }
  halo_ = std::make_unique<Halo>(line.layout, line.communicator, static_cast<int>(reach.sites), 2 * line.axes);
  add_near(Position::head, 2 * reach.sites);
  if (line.at_far_end && line.constants.far_end == FarEnd::matched)
    far_.emplace(step, Position::far_end, 2 * reach.sites);
  if (line.count == 0) return;
  const std::int64_t capacity = Tile::capacity_for(recursion, reach.sites);
  tile_sites_ = capacity - 2 * reach.sites;
  tile_.emplace(recursion, capacity);
  pending_w_.resize(static_cast<std::size_t>(reach.sites));
  pending_p_.resize(pending_w_.size());
}

template <int S>
void LineBlockStepper<S>::begin_block(const BlockPlan& plan) {
  line_.mark_active(line_.sites());
  steps_ = plan.steps;
  if (halo_) {
    halo_fields_.clear();
    for (int axis = 0; axis < line_.axes; ++axis) {
      halo_fields_.push_back(line_.own(line_.w[axis]) - halo_->left());
      halo_fields_.push_back(line_.own(line_.p[axis]) - halo_->left());
    }
    halo_->exchange(halo_fields_);
  }
  for (std::size_t axis = 0; axis < near_.size(); ++axis) {
    near_[axis].load(line_.own(line_.w[axis]), line_.own(line_.p[axis]), line_.dissipated[axis]);
  }
  line_.open_block = first_displacement_;
}

template <int S>
void LineBlockStepper<S>::end_block() {
  for (int axis = 0; axis < line_.axes; ++axis) advance_other_sites(axis);
  line_.open_block.reset();
}

template <int S>
bool LineBlockStepper<S>::condense(std::span<const double> head, StageResponse& response) {
  response.constant.resize(S, line_.axes);
  for (int axis = 0; axis < line_.axes; ++axis) response.constant.col(axis) = near_[axis].eliminate(head[axis]);
  response.damping = near_.front().damping();
  return true;
}

template <int S>
void LineBlockStepper<S>::back_substitute(const Eigen::MatrixXd& head_velocities) {
  for (int axis = 0; axis < line_.axes; ++axis) near_[axis].back_substitute(head_velocities.col(axis));
}

/// Loads `count` sites, beginning with site `from`; those behind a fixed or free end are mirrored.
template <int S>
void LineBlockStepper<S>::load_tile(const double* w, const double* p, std::int64_t from, std::int64_t count) {
  const std::int64_t behind = line_.at_far_end ? std::max<std::int64_t>(0, from + count - line_.count) : 0;
  if (behind == 0) return tile_->load(w + from, p + from, count);
  const bool is_fixed = line_.constants.far_end == FarEnd::fixed;
  const auto fill = [&](const double* own, std::vector<double>& to) {
    to.assign(own + from, own + line_.count);
    for (std::int64_t g = 0; g < behind; ++g) {
      to.push_back(!is_fixed ? own[line_.count - 1 - g] : g > 0 ? -own[line_.count - g] : 0.0);
    }
  };
  fill(w, mirrored_w_);
  fill(p, mirrored_p_);
  tile_->load(mirrored_w_.data(), mirrored_p_.data(), count);
}

template <int S>
void LineBlockStepper<S>::advance_other_sites(int axis) {
  double* const w = line_.own(line_.w[axis]);
  double* const p = line_.own(line_.p[axis]);
  double& dissipated = line_.dissipated[axis];
  const bool at_head = line_.at_head(), at_far_end = line_.at_far_end;
  const std::int64_t reach = reach_.sites;
  // The next piece is loaded with old values of the sites before it, so these are stored only afterwards.
  bool near_is_pending = at_head && near_count_ > 0;
  std::int64_t pending_begin = 0, pending_count = 0;
  const auto store_pending = [&] {
    if (near_is_pending) near_[axis].store(0, near_count_, w, p);
    std::copy_n(pending_w_.begin(), pending_count, w + pending_begin);
    std::copy_n(pending_p_.begin(), pending_count, p + pending_begin);
    near_is_pending = false;
    pending_count = 0;
  };
  const std::int64_t end = far_ ? line_.count - reach : line_.count;
  const std::int64_t available = at_far_end ? line_.count : line_.count + reach;
  const std::int64_t tiles = tile_ ? (end - near_count_ + tile_sites_ - 1) / tile_sites_ : 0;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t from = near_count_ + (end - near_count_) * i / tiles;
    const std::int64_t to = near_count_ + (end - near_count_) * (i + 1) / tiles;
    load_tile(w, p, from - reach, to - from + 2 * reach);
    store_pending();
    const std::int64_t loaded = to + reach;
    // Fewer at the end of the line or of a rank's copied sites.
    const auto ahead = static_cast<std::size_t>(std::clamp<std::int64_t>(available - loaded, 0, tile_sites_));
    const std::int64_t next_site = std::min(loaded, available);
    const std::span<const double> next[] = {{w + next_site, ahead}, {p + next_site, ahead}};
    tile_->advance(steps_, next);
    pending_count = std::min(reach, to - from);
    pending_begin = to - pending_count;
    std::copy_n(w + pending_begin, pending_count, pending_w_.begin());
    std::copy_n(p + pending_begin, pending_count, pending_p_.begin());
    tile_->store(reach, to - from, w + from, p + from);
    std::swap_ranges(w + pending_begin, w + to, pending_w_.begin());
    std::swap_ranges(p + pending_begin, p + to, pending_p_.begin());
  }
  if (far_) {
    far_->load(w + (end - reach), p + (end - reach), dissipated);
    store_pending();
    for (int step = 0; step < steps_; ++step) far_->step();
    far_->store(reach, reach, w + end, p + end);
    dissipated = far_->dissipated();
  } else {
    store_pending();
    if (at_head && reach == 0) dissipated = near_[axis].dissipated();
  }
}

/// nullptr if the scheme has no recursion, or if its steps reach further than LineState::max_halo or than the sites of
/// a rank. The same on every rank. @note Collective.
template <int S>
std::unique_ptr<ImplicitEnvironmentStepper> make_line_block_stepper(LineState& line,
                                                                    const LineStep<UniformSites, S>& step,
                                                                    const std::optional<LineRecursion>& recursion) {
  if (!recursion || !LineBlockStepper<S>::Tile::supports(*recursion)) return nullptr;
  const ImplicitReach reach = LineBlockStepper<S>::find_reach(*recursion, line.layout);
  if (reach.steps == 0) return nullptr;
  return std::make_unique<LineBlockStepper<S>>(line, step, *recursion, reach);
}

}  // namespace bathline
