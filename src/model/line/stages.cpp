// Implicit schemes with several stages on a line: the stage momenta of a site are one vector, and a block tridiagonal
// system couples those of neighbours.
//
// In blocks of steps where the scheme is a recursion along the line, see stage_block.hpp; elsewhere step by step.
// Source: hairer2006, section II.2, in the form of stage_step.hpp.
#include <stdexcept>

#include "model/line/line.hpp"

namespace bathline {

void Line::set_up_stages(const CollocationScheme& scheme, double h) {
  if (!is_uniform()) throw std::logic_error("implicit schemes need a line of equal sites");
  stages_ = {constants_, scheme, h};
  stage_solver_ = std::make_unique<LineStageSolver>(stages_.matrix(), layout_, communicator_, axes_);
  stage_momenta_.clear();
  solver_.reset();
  implicit_block_.reset();
  stage_block_.reset();
  if (!stage_solver_->is_direct()) return;
  stage_block_ = LineStageBlock::make(stages_, layout_, communicator_, axes_);
}

std::optional<StageResponse> Line::eliminate_stages(std::span<const double> head) {
  if (stage_block_ && stage_block_->is_open()) return stage_block_->eliminate(head);
  touch(sites());
  exchange_next_neighbours();
  if (stage_momenta_.empty()) {
    const auto size = static_cast<std::size_t>(count_ * stages_.scheme.stages());
    stage_momenta_.resize(static_cast<std::size_t>(axes_));
    stage_fields_.clear();
    for (std::vector<double>& field : stage_momenta_) {
      field.resize(size);
      stage_fields_.push_back(field.data());
    }
  }
  for (int axis = 0; axis < axes_; ++axis) {
    const double* w = own(w_[axis]);
    if (at_head()) head_[axis] = head[axis];
    if (count_ == 0) continue;
    const double left = at_head() ? head_[axis] : w[-1];
    const double behind = constants_.far_end == FarEnd::fixed ? 0.0 : w[count_ - 1];
    stages_.begin(w, own(p_[axis]), stage_fields_[axis], count_, left, at_far_end_ ? behind : w[count_]);
  }
  const std::optional<StageRelation> relation = stage_solver_->eliminate(stage_fields_);
  if (!relation) return std::nullopt;
  StageResponse response;
  response.damping = stages_.damping(relation->slope);
  if (!at_head()) return response;
  response.constant.resize(stages_.scheme.stages(), axes_);
  for (int axis = 0; axis < axes_; ++axis) {
    response.constant.col(axis) = stages_.force(relation->constant.col(axis), own(w_[axis])[0] - head_[axis]);
  }
  return response;
}

void Line::complete_stages(const Eigen::MatrixXd& head_velocities) {
  if (stage_block_ && stage_block_->is_open()) {
    stage_block_->complete(head_velocities);
    return;
  }
  stage_solver_->substitute(stage_fields_, constants_.mass * head_velocities);
  for (int axis = 0; axis < axes_ && count_ > 0; ++axis) {
    if (at_far_end_ && is_open_ended()) {
      const std::int64_t last = count_ - 1;
      dissipated_[axis] += stages_.drag(stage_fields_[axis] + last * stages_.scheme.stages(), own(p_[axis])[last]);
    }
    stages_.move_to_means(own(w_[axis]), stage_fields_[axis], count_);
  }
  exchange_next_neighbours();
  for (int axis = 0; axis < axes_ && count_ > 0; ++axis) {
    double* w = own(w_[axis]);
    const double left = at_head() ? stages_.mean(head_[axis], head_velocities.col(axis)) : w[-1];
    const double behind = constants_.far_end == FarEnd::fixed ? 0.0 : w[count_ - 1];
    stages_.end(w, own(p_[axis]), stage_fields_[axis], count_, left, at_far_end_ ? behind : w[count_]);
  }
}

}  // namespace bathline
