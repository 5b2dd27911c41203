// Implicit schemes on a uniform line that stays in cache: the whole line is copied into lanes for a block of steps, and
// goes along with the particles there, exactly.
// Tested by tests/model/line/implicit/short_march_test.cpp.
#include "model/line/implicit/short_march.hpp"

#include "model/line/implicit/in_lanes.hpp"
#include "model/line/implicit/step.hpp"
#include "model/line/state.hpp"

namespace bathline {

namespace {

/// On longer lines tiles that take one sweep a step are faster than two sweeps.
constexpr std::int64_t longest_in_lanes = 800;
/// Streams for which there are registers.
constexpr int most_streams = lanes == 8 ? 3 : 2;

template <class InLanes>
class LineShortImplicitMarch final : public ImplicitMarch {
 public:
  static constexpr int stages = InLanes::stages;
  using Step = LineStep<EqualSites, stages>;

  LineShortImplicitMarch(LineState& line, const CollocationScheme& scheme, const LineRecursion& recursion, double h)
      : line_(line), step_(std::get<EqualSites>(line.material()), line.head_stiffness, line.constants, scheme, h) {
    for (int axis = 0; axis < line.axes && line.at_head(); ++axis) {
      axes_.emplace_back(recursion, line.constants, line.sites());
    }
    if (!axes_.empty()) damping_ = step_.damping(axes_.front().slope());
  }

  int limit() const override { return most_steps; }
  void open(const BlockPlan&) override {
    line_.touch(line_.sites());
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      axes_[axis].load(line_.own(line_.w[axis]), line_.own(line_.p[axis]), line_.dissipated[axis]);
    }
  }
  void close() override {
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      axes_[axis].store(line_.own(line_.w[axis]), line_.own(line_.p[axis]));
      line_.dissipated[axis] = axes_[axis].dissipated();
    }
  }
  bool respond(std::span<const double> head, StageResponse& response) override {
    response.damping = damping_;
    response.constant.resize(stages, line_.axes);
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      InLanes& sites = axes_[axis];
      const double stretch = sites.first_w() - head[axis], momentum = sites.first_p();
      const Value first = Value::Constant(momentum) + sites.eliminate(head[axis]);
      response.constant.col(static_cast<Eigen::Index>(axis)) = step_.force(first, stretch);
    }
    return true;
  }
  void complete(const Eigen::MatrixXd& head_velocities) override {
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      axes_[axis].substitute(head_velocities.col(static_cast<Eigen::Index>(axis)));
    }
  }

 private:
  using Value = typename Step::Value;
  /// Copying in and out is a hundredth of that.
  static constexpr int most_steps = 64;

  LineState& line_;
  Step step_;
  std::vector<InLanes> axes_;  // on rank 0
  typename Step::Block damping_;
};

template <int pairs, int singles, int streams>
std::unique_ptr<ImplicitMarch> march_with(LineState& line, const CollocationScheme& scheme,
                                          const LineRecursion& recursion, double h) {
  using InLanes = LineModesInLanes<pairs, singles, streams>;
  if (InLanes::takes(recursion, line.constants, line.sites())) {
    return std::make_unique<LineShortImplicitMarch<InLanes>>(line, scheme, recursion, h);
  }
  if constexpr (streams > 1) {
    return march_with<pairs, singles, streams - 1>(line, scheme, recursion, h);
  } else {
    return nullptr;
  }
}

}  // namespace

std::unique_ptr<ImplicitMarch> make_short_implicit_march(LineState& line, const CollocationScheme& scheme,
                                                         const LineRecursion& recursion, double h) {
  if (line.layout.holders() > 1 || line.sites() > longest_in_lanes) return nullptr;
  if (scheme.stages() == 1) return march_with<0, 1, most_streams>(line, scheme, recursion, h);
  if (scheme.stages() == 2) return march_with<1, 0, most_streams - 1>(line, scheme, recursion, h);
  return nullptr;
}

}  // namespace bathline
