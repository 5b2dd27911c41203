// Implicit one-stage schemes on a line: the stage momenta solve one tridiagonal system, whose first half leaves a
// relation between the force on the head and the head's stage velocity.
//
// In blocks of steps where all sites are equal and influence decays within those of a rank, see
// implicit_block.hpp; elsewhere step by step with a system that is reduced over the ranks, exactly, or with the
// solver that the user asks PETSc for. Source: the scheme, farshi2018, eq. (45), in the form of implicit_stage.hpp
// or, where sites differ, of unequal_stage.hpp.
#include "model/line/line.hpp"

namespace bathline {

void Line::set_up_implicit(const OneStageScheme& scheme, double h) {
  stage_solver_.reset();
  implicit_block_.reset();
  stage_block_.reset();
  stage_ = {constants_, scheme, h};
  if (!is_uniform()) {
    prepare_springs();
    unequal_stage_ = {springs(), constants_.far_end, constants_.dashpot, scheme, h};
    solver_ = std::make_unique<LineSolver>(unequal_stage_.matrix(count_), layout_, communicator_, axes_);
    return;
  }
  solver_ = std::make_unique<LineSolver>(stage_.matrix(), layout_, communicator_, axes_);
  if (!solver_->is_direct()) return;
  implicit_block_ = LineImplicitBlock::make(stage_, layout_, communicator_, axes_);
}

std::optional<HeadResponse> Line::eliminate(std::span<const double> head) {
  HeadResponse response;
  if (implicit_block_ && implicit_block_->is_open()) {
    response.constant.resize(static_cast<std::size_t>(axes_));
    implicit_block_->eliminate(head, response.constant);
    response.damping = implicit_block_->damping();
    return response;
  }
  touch(sites());
  exchange_next_neighbours();
  for (int axis = 0; axis < axes_; ++axis) {
    double* w = own(w_[axis]);
    if (at_head()) head_[axis] = head[axis];
    if (count_ == 0) continue;
    // Where a rank has no neighbour the missing value is the head or the far end.
    const double left = at_head() ? head_[axis] : w[-1];
    const double behind = constants_.far_end == FarEnd::fixed ? 0.0 : w[count_ - 1];
    const double right = at_far_end_ ? behind : w[count_];
    if (is_uniform()) {
      stage_.begin(w, own(p_[axis]), count_, left, right);
    } else {
      unequal_stage_.begin(w, own(p_[axis]), count_, left, right);
    }
  }
  const std::optional<HeadRelation> relation = solver_->eliminate(own_momenta_);
  if (!relation) return std::nullopt;
  const double push = head_stiffness_ * stage_.scheme.b * stage_.h;
  response.damping = push * (1.0 - relation->slope);
  for (int axis = 0; axis < axes_ && at_head(); ++axis) {
    response.constant.push_back(head_stiffness_ * (own(w_[axis])[0] - head_[axis]) +
                                push * relation->constant[axis] / solved_mass());
  }
  return response;
}

void Line::complete(std::span<const double> head_velocity) {
  if (implicit_block_ && implicit_block_->is_open()) {
    implicit_block_->complete(head_velocity);
    return;
  }
  for (int axis = 0; axis < axes_; ++axis) head_momentum_[axis] = solved_mass() * head_velocity[axis];
  solver_->substitute(own_momenta_, head_momentum_);
  exchange_next_neighbours();
  for (int axis = 0; axis < axes_ && count_ > 0; ++axis) {
    double* w = own(w_[axis]);
    double* p = own(p_[axis]);
    const auto stage = [&](std::int64_t site) {
      return is_uniform() ? stage_.stage(w[site], p[site]) : unequal_stage_.stage(site, w[site], p[site]);
    };
    const std::int64_t last = count_ - 1;
    const double momentum = p[last];
    const double left = at_head() ? head_[axis] + stage_.scheme.b * stage_.h * head_velocity[axis] : stage(-1);
    const double behind = constants_.far_end == FarEnd::fixed ? 0.0 : stage(last);
    const double right = at_far_end_ ? behind : stage(count_);
    const bool drags = at_far_end_ && is_open_ended();
    if (is_uniform()) {
      stage_.end(w, p, count_, left, right);
      if (drags) dissipated_[axis] += stage_.drag(momentum, p[last]);
    } else {
      unequal_stage_.end(w, p, count_, left, right);
      if (drags) dissipated_[axis] += unequal_stage_.drag(last, momentum, p[last]);
    }
  }
}

std::string Line::failure() const {
  if (stage_solver_) return stage_solver_->failure();
  return solver_ ? solver_->failure() : "";
}

}  // namespace bathline
