// Implicit one-stage steps of a uniform line in blocks of steps, see block.hpp.
#pragma once

#include <memory>
#include <span>

#include "model/line/implicit/block.hpp"
#include "model/line/implicit/implicit_recursion.hpp"
#include "model/line/implicit/implicit_tile.hpp"
#include "model/line/implicit/implicit_window.hpp"

namespace bathline {

class LineImplicitBlock : public LineBlock<LineImplicitTile, LineImplicitWindow> {
 public:
  /// Nothing where the steps reach further than `widest`, or than the sites of a rank. The same on every rank.
  /// @note Collective.
  static std::unique_ptr<LineImplicitBlock> make(const ImplicitStage& stage, const Layout& layout,
                                                 const Communicator& communicator, int axes);

  /// On rank 0, inside a block.
  void eliminate(std::span<const double> head, StageResponse& response);
  void complete(const Eigen::MatrixXd& head_velocities);

 private:
  using LineBlock::LineBlock;
};

}  // namespace bathline
