// Implicit steps of a uniform line in blocks of steps, without any message within a block.
//
// One exchange supplies as many sites beyond each cut as the block's steps reach to within round-off. The sites near
// the head advance in lockstep with the particles; all others in tiles that overlap by the same reach and stay in cache
// for all steps of the block. Behind a fixed or free end the line goes on as its mirror image, and a tile takes as much
// of that along as the steps reach; a matched end has a window with what closes the line there. A line that lies within
// few sites of its head on one rank is all one window, and exact.
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

/// Steps of S stages, inside of blocks only.
template <int S>
class LineBlockStepper final : public ImplicitEnvironmentStepper {
 public:
  using Tile = std::conditional_t<S == 1, LineOneStageTile, LineStageTile>;
  using Window = LineImplicitSegment<S>;
  using Step = typename Window::Step;

  /// The cheapest reach where there is one, within the sites of every rank; no sites where the whole line is one
  /// window, no steps where there are no such blocks. The same on every rank.
  static ImplicitReach find_reach(const LineRecursion& recursion, const Layout& layout);
  /// @note Collective.
  LineBlockStepper(LineState& line, const Step& step, const LineRecursion& recursion, const ImplicitReach& reach);

  int max_block_steps() const override { return reach_.steps; }
  void begin_block(const BlockPlan& plan) override;
  /// The sites that the particles cannot feel within the block catch up.
  void end_block() override;
  bool condense(std::span<const double> head, StageResponse& response) override;
  void back_substitute(const Eigen::MatrixXd& head_velocities) override;

 private:
  void advance_rest(int axis);
  void load_tile(const double* w, const double* p, std::int64_t from, std::int64_t count);

  LineState& line_;
  ImplicitReach reach_;
  std::int64_t near_count_;   // sites that advance in lockstep with the particles
  std::vector<Window> near_;  // one per axis, on rank 0
  std::unique_ptr<Halo> halo_;
  std::vector<double*> halo_fields_;
  std::optional<Window> far_;            // on the rank of a matched far end
  std::optional<Tile> tile_;             // on ranks with sites
  std::int64_t tile_sites_ = 0;          // that it may own
  std::vector<double> end_w_, end_p_;    // a tile's sites where some of them are mirrored
  std::vector<double> late_w_, late_p_;  // the tile's last sites, until the next piece has been loaded
  int steps_ = 0;                        // of the open block
};

template <int S>
ImplicitReach LineBlockStepper<S>::find_reach(const LineRecursion& recursion, const Layout& layout) {
  // Nothing is wrong with blocks of a line in one window, however long.
  constexpr int longest = 64;
  const int active_ranks = layout.active_ranks();
  const std::int64_t least = std::min(layout.count(0), layout.count(active_ranks - 1));
  const std::int64_t limit = active_ranks == 1 ? LineState::widest : std::min(LineState::widest, least);
  const ImplicitReach reach = cheapest_reach<Tile>(recursion, limit, layout.total());
  if (active_ranks == 1 && layout.total() <= 4 * (reach.steps > 0 ? reach.sites : limit)) return {longest, 0};
  return reach;
}

template <int S>
LineBlockStepper<S>::LineBlockStepper(LineState& line, const Step& step, const LineRecursion& recursion,
                                      const ImplicitReach& reach)
    : line_(line), reach_(reach), near_count_(line.at_head() ? reach.sites : 0) {
  using Place = typename Window::Place;
  const auto add_near = [&](Place place, std::int64_t sites) {
    for (int axis = 0; axis < line.axes && line.at_head(); ++axis) near_.emplace_back(step, place, sites);
  };
  if (reach.sites == 0) {
    near_count_ = line.count;
    add_near(Place::whole, line.count);
    return;
  }
  halo_ = std::make_unique<Halo>(line.layout, line.communicator, static_cast<int>(reach.sites), 2 * line.axes);
  add_near(Place::head, 2 * reach.sites);
  if (line.at_far_end && line.constants.far_end == FarEnd::matched) far_.emplace(step, Place::far_end, 2 * reach.sites);
  if (line.count == 0) return;
  const std::int64_t capacity = Tile::capacity_for(recursion, reach.sites);
  tile_sites_ = capacity - 2 * reach.sites;
  tile_.emplace(recursion, capacity);
  late_w_.resize(static_cast<std::size_t>(reach.sites));
  late_p_.resize(late_w_.size());
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
}

template <int S>
void LineBlockStepper<S>::end_block() {
  for (int axis = 0; axis < line_.axes; ++axis) advance_rest(axis);
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

/// `count` sites from `from` on; those behind a fixed or free end are mirrored.
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
  fill(w, end_w_);
  fill(p, end_p_);
  tile_->load(end_w_.data(), end_p_.data(), count);
}

template <int S>
void LineBlockStepper<S>::advance_rest(int axis) {
  double* const w = line_.own(line_.w[axis]);
  double* const p = line_.own(line_.p[axis]);
  double& dissipated = line_.dissipated[axis];
  const bool at_head = line_.at_head(), at_far_end = line_.at_far_end;
  const std::int64_t reach = reach_.sites;
  // The next piece is loaded with the old values of sites before it, so these are stored only afterwards.
  bool near_is_late = at_head && near_count_ > 0;
  std::int64_t late_begin = 0, late_count = 0;
  const auto store_late = [&] {
    if (near_is_late) near_[axis].store(0, near_count_, w, p);
    std::copy_n(late_w_.begin(), late_count, w + late_begin);
    std::copy_n(late_p_.begin(), late_count, p + late_begin);
    near_is_late = false;
    late_count = 0;
  };
  const std::int64_t end = far_ ? line_.count - reach : line_.count;
  const std::int64_t known = at_far_end ? line_.count : line_.count + reach;
  const std::int64_t tiles = tile_ ? (end - near_count_ + tile_sites_ - 1) / tile_sites_ : 0;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t from = near_count_ + (end - near_count_) * i / tiles;
    const std::int64_t to = near_count_ + (end - near_count_) * (i + 1) / tiles;
    load_tile(w, p, from - reach, to - from + 2 * reach);
    store_late();
    const std::int64_t loaded = to + reach;
    // At the end of the line, and of a rank's copies, there is less.
    const auto ahead = static_cast<std::size_t>(std::clamp<std::int64_t>(known - loaded, 0, tile_sites_));
    const std::int64_t next_site = std::min(loaded, known);
    const std::span<const double> next[] = {{w + next_site, ahead}, {p + next_site, ahead}};
    tile_->advance(steps_, next);
    late_count = std::min(reach, to - from);
    late_begin = to - late_count;
    std::copy_n(w + late_begin, late_count, late_w_.begin());
    std::copy_n(p + late_begin, late_count, late_p_.begin());
    tile_->store(reach, to - from, w + from, p + from);
    std::swap_ranges(w + late_begin, w + to, late_w_.begin());
    std::swap_ranges(p + late_begin, p + to, late_p_.begin());
  }
  if (far_) {
    far_->load(w + (end - reach), p + (end - reach), dissipated);
    store_late();
    for (int step = 0; step < steps_; ++step) far_->step();
    far_->store(reach, reach, w + end, p + end);
    dissipated = far_->dissipated();
  } else {
    store_late();
    if (at_head && reach == 0) dissipated = near_[axis].dissipated();
  }
}

/// Nothing where the scheme is no recursion along the line, or where its steps reach further than LineState::widest or
/// than the sites of a rank. The same on every rank. @note Collective.
template <int S>
std::unique_ptr<ImplicitEnvironmentStepper> make_line_block_stepper(LineState& line,
                                                                    const LineStep<UniformSites, S>& step,
                                                                    const std::optional<LineRecursion>& recursion) {
  if (!recursion || !LineBlockStepper<S>::Tile::serves(*recursion)) return nullptr;
  const ImplicitReach reach = LineBlockStepper<S>::find_reach(*recursion, line.layout);
  if (reach.steps == 0) return nullptr;
  return std::make_unique<LineBlockStepper<S>>(line, step, *recursion, reach);
}

}  // namespace bathline
