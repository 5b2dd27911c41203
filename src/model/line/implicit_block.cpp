// Implicit one-stage steps of a uniform line in blocks of steps.
#include "model/line/implicit_block.hpp"

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

void LineImplicitBlock::eliminate(std::span<const double> head, std::span<double> constant) {
  for (std::size_t axis = 0; axis < near_.size(); ++axis) constant[axis] = near_[axis].eliminate(head[axis]);
}

void LineImplicitBlock::complete(std::span<const double> head_velocity) {
  for (std::size_t axis = 0; axis < near_.size(); ++axis) near_[axis].complete(head_velocity[axis]);
}

}  // namespace bathline
