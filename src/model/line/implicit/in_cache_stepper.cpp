// Implicit schemes on a uniform line that fits into the cache: the whole line is copied into lanes for a block of
// steps, and advances there in lockstep with the particles, without approximation.
// Tested by tests/model/line/implicit/in_cache_stepper_test.cpp.
#include "model/line/implicit/in_cache_stepper.hpp"

#include "model/line/implicit/lane_partitioned_modes.hpp"
#include "model/line/implicit/step.hpp"
#include "model/line/state.hpp"

namespace bathline {

namespace {

/// On longer lines tiles, with one sweep a step instead of two, are faster.
constexpr std::int64_t max_sites = 800;
/// Maximum number of streams that fit into the registers.
constexpr int max_streams = simd_width == 8 ? 3 : 2;

template <class Lanes>
class InCacheImplicitStepper final : public ImplicitEnvironmentStepper {
 public:
  static constexpr int stages = Lanes::stages;
  using Step = LineStep<UniformSites, stages>;

  InCacheImplicitStepper(LineState& line, const PartitionedRungeKutta& scheme, const LineRecursion& recursion, double h)
      : line_(line), step_(std::get<UniformSites>(line.material()), line.head_stiffness, line.constants, scheme, h) {
    for (int axis = 0; axis < line.axes && line.at_head(); ++axis) {
      axes_.emplace_back(recursion, line.constants, line.sites());
    }
    if (!axes_.empty()) damping_ = step_.damping(axes_.front().slope());
  }

  int max_block_steps() const override { return max_steps; }
  void begin_block(const BlockPlan&) override {
    line_.mark_active(line_.sites());
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      axes_[axis].load(line_.own(line_.w[axis]), line_.own(line_.p[axis]), line_.dissipated[axis]);
    }
    line_.open_block = first_displacement_;
  }
  void end_block() override {
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      axes_[axis].store(line_.own(line_.w[axis]), line_.own(line_.p[axis]));
      line_.dissipated[axis] = axes_[axis].dissipated();
    }
    line_.open_block.reset();
  }
  bool condense(std::span<const double> head, StageResponse& response) override {
    response.damping = damping_;
    response.constant.resize(stages, line_.axes);
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      Lanes& sites = axes_[axis];
      const double stretch = sites.first_w() - head[axis], momentum = sites.first_p();
      const Value first = Value::Constant(momentum) + sites.eliminate(head[axis]);
      response.constant.col(static_cast<Eigen::Index>(axis)) = step_.force(first, stretch);
    }
    return true;
  }
  void back_substitute(const Eigen::MatrixXd& head_velocities) override {
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      axes_[axis].substitute(head_velocities.col(static_cast<Eigen::Index>(axis)));
    }
  }

 private:
  using Value = typename Step::Value;
  /// Copying in and out takes a hundredth of the time of a block.
  static constexpr int max_steps = 64;

  LineState& line_;
  std::shared_ptr<const LineState::FirstDisplacement> first_displacement_ =
      std::make_shared<LineState::FirstDisplacement>(
          [this](int axis) { return axes_[static_cast<std::size_t>(axis)].first_w(); });
  Step step_;
  std::vector<Lanes> axes_;  // on rank 0
  typename Step::Block damping_;
};

template <int pairs, int singles, int streams>
std::unique_ptr<ImplicitEnvironmentStepper> make_with_streams(LineState& line, const PartitionedRungeKutta& scheme,
                                                              const LineRecursion& recursion, double h) {
  using Lanes = LanePartitionedModes<pairs, singles, streams>;
  if (Lanes::supports(recursion, line.constants, line.sites())) {
    return std::make_unique<InCacheImplicitStepper<Lanes>>(line, scheme, recursion, h);
  }
  if constexpr (streams > 1) {
    return make_with_streams<pairs, singles, streams - 1>(line, scheme, recursion, h);
  } else {
    return nullptr;
  }
}

}  // namespace

std::unique_ptr<ImplicitEnvironmentStepper> make_in_cache_implicit_stepper(LineState& line,
                                                                           const PartitionedRungeKutta& scheme,
                                                                           const LineRecursion& recursion, double h) {
  if (line.layout.active_ranks() > 1 || line.sites() > max_sites) return nullptr;
  if (scheme.stages() == 1) return make_with_streams<0, 1, max_streams>(line, scheme, recursion, h);
  if (scheme.stages() == 2) return make_with_streams<1, 0, max_streams - 1>(line, scheme, recursion, h);
  return nullptr;
}

}  // namespace bathline
