// Steps with several stages of a uniform line in blocks of steps, see block.hpp.
#pragma once

#include <memory>
#include <span>

#include "model/line/implicit/block.hpp"
#include "model/line/implicit/stage_recursion.hpp"
#include "model/line/implicit/stage_tile.hpp"
#include "model/line/implicit/stage_window.hpp"

namespace bathline {

class LineStageBlock : public LineBlock<LineStageTile, LineStageWindow> {
 public:
  /// Nothing where the scheme is no recursion along the line, or where its steps reach further than `widest` or than
  /// the sites of a rank. The same on every rank. @note Collective.
  static std::unique_ptr<LineStageBlock> make(const LineStageStep& step, const Layout& layout,
                                              const Communicator& communicator, int axes);

  /// On rank 0, inside a block.
  void eliminate(std::span<const double> head, StageResponse& response);
  /// Stages x axes.
  void complete(const Eigen::MatrixXd& head_velocities);

 private:
  using LineBlock::LineBlock;
};

}  // namespace bathline
