// Blocks of implicit steps of a line, of whichever scheme was set up last.
#include "model/line/line.hpp"

namespace bathline {

int Line::implicit_block_limit() const {
  if (stage_block_) return stage_block_->limit();
  return implicit_block_ ? implicit_block_->limit() : 0;
}

void Line::open_implicit_block(int steps) {
  touch(sites());
  const auto open = [&]<class Block>(Block& block) {
    std::vector<typename Block::Axis> axes;
    for (int axis = 0; axis < axes_; ++axis) axes.push_back({own(w_[axis]), own(p_[axis]), &dissipated_[axis]});
    block.open(steps, std::move(axes));
  };
  if (stage_block_) {
    open(*stage_block_);
  } else {
    open(*implicit_block_);
  }
}

void Line::close_implicit_block() {
  if (stage_block_) {
    stage_block_->close();
  } else {
    implicit_block_->close();
  }
}

}  // namespace bathline
