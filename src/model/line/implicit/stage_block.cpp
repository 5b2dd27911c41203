// Steps with several stages of a uniform line in blocks of steps.
#include "model/line/implicit/stage_block.hpp"

namespace bathline {

std::unique_ptr<LineStageBlock> LineStageBlock::make(const LineStageStep& step, const Layout& layout,
                                                     const Communicator& communicator, int axes) {
  const std::optional<StageRecursion> recursion = StageRecursion::of(step);
  if (!recursion) return nullptr;
  const ImplicitReach reach = find_reach(*recursion, layout);
  if (reach.steps == 0) return nullptr;
  const Communicator alone = communicator.split(communicator.rank());
  const auto window = [&](LineStageWindow::Place place, std::int64_t sites) {
    return LineStageWindow(step, place, sites, alone);
  };
  return std::unique_ptr<LineStageBlock>(new LineStageBlock(*recursion, window, reach, layout, communicator, axes));
}

void LineStageBlock::eliminate(std::span<const double> head, StageResponse& response) {
  for (std::size_t axis = 0; axis < near_.size(); ++axis) {
    const Eigen::VectorXd constant = near_[axis].eliminate(head[axis]);
    response.constant.resize(constant.size(), static_cast<Eigen::Index>(near_.size()));
    response.constant.col(static_cast<Eigen::Index>(axis)) = constant;
  }
  response.damping = near_.front().damping();
}

void LineStageBlock::complete(const Eigen::MatrixXd& head_velocities) {
  for (std::size_t axis = 0; axis < near_.size(); ++axis) {
    near_[axis].complete(head_velocities.col(static_cast<Eigen::Index>(axis)));
  }
}

}  // namespace bathline
