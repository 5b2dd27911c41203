// Implicit one-stage steps of a uniform line in blocks of steps.
#include "model/line/implicit/implicit_block.hpp"

namespace bathline {

std::unique_ptr<LineImplicitBlock> LineImplicitBlock::make(const ImplicitStage& stage, const Layout& layout,
                                                           const Communicator& communicator, int axes) {
  if (!(stage.scheme.a > 0.0)) return nullptr;
  const ImplicitRecursion recursion(stage.line, stage.scheme, stage.h);
  const ImplicitReach reach = find_reach(recursion, layout);
  if (reach.steps == 0) return nullptr;
  const auto window = [&](LineImplicitWindow::Place place, std::int64_t sites) {
    return LineImplicitWindow(stage, place, sites);
  };
  return std::unique_ptr<LineImplicitBlock>(
      new LineImplicitBlock(recursion, window, reach, layout, communicator, axes));
}

void LineImplicitBlock::eliminate(std::span<const double> head, StageResponse& response) {
  response.constant.resize(1, static_cast<Eigen::Index>(near_.size()));
  response.damping.resize(1, 1);
  for (std::size_t axis = 0; axis < near_.size(); ++axis) {
    response.constant(0, static_cast<Eigen::Index>(axis)) = near_[axis].eliminate(head[axis]);
  }
  response.damping(0, 0) = near_.front().damping();
}

void LineImplicitBlock::complete(const Eigen::MatrixXd& head_velocities) {
  for (std::size_t axis = 0; axis < near_.size(); ++axis) {
    near_[axis].complete(head_velocities(0, static_cast<Eigen::Index>(axis)));
  }
}

}  // namespace bathline
