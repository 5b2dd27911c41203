// A piece of a uniform line that is taken through steps with several stages on its own.
//
// The piece's block tridiagonal system is that of a line of its own, see solve/stage_tridiagonal.hpp.
#include "model/line/implicit/stage_window.hpp"

#include <Eigen/LU>
#include <algorithm>

namespace bathline {

LineStageWindow::LineStageWindow(const LineStageStep& step, Place place, std::int64_t count, const Communicator& alone)
    : step_(step),
      place_(place),
      solver_(make_stage_solver(at_far_end() ? step.matrix() : step.cut_matrix(), Layout(count, 1, 1), alone, 1)),
      w_(static_cast<std::size_t>(count)),
      p_(w_.size()),
      stage_(w_.size() * static_cast<std::size_t>(step.scheme.stages())) {}

void LineStageWindow::load(const double* w, const double* p, std::int64_t count, double dissipated) {
  dissipated_ = dissipated;
  std::copy_n(w, count, w_.begin());
  std::copy_n(p, count, p_.begin());
}

void LineStageWindow::store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
  std::copy_n(w_.begin() + offset, count, w);
  std::copy_n(p_.begin() + offset, count, p);
}

StageRelation LineStageWindow::begin(double before) {
  step_.begin(w_.data(), p_.data(), stage_.data(), static_cast<std::int64_t>(w_.size()), before, behind());
  double* const fields[] = {stage_.data()};
  return solver_->eliminate(fields);
}

Eigen::VectorXd LineStageWindow::eliminate(double head) {
  head_ = head;
  const StageRelation relation = begin(head);
  damping_ = step_.damping(relation.slope);
  return step_.force(relation.constant.col(0), w_[0] - head);
}

void LineStageWindow::complete(const Eigen::VectorXd& head_velocities) {
  substitute(step_.line.mass * head_velocities);
  end(step_.mean(head_, head_velocities));
}

void LineStageWindow::step() {
  // A site before the first that moves with it does not pull.
  const StageRelation relation = begin(w_[0]);
  const Eigen::MatrixXd pulls =
      Eigen::MatrixXd::Identity(relation.slope.rows(), relation.slope.cols()) - relation.slope;
  substitute(pulls.partialPivLu().solve(relation.constant.col(0)));
  end(w_[0]);
}

void LineStageWindow::substitute(const Eigen::VectorXd& momenta_before) {
  double* const fields[] = {stage_.data()};
  solver_->substitute(fields, momenta_before);
  const auto count = static_cast<std::int64_t>(w_.size());
  if (at_far_end() && step_.line.far_end == FarEnd::matched) {
    dissipated_ += step_.drag(stage_.data() + (count - 1) * step_.scheme.stages(), p_.back());
  }
  step_.move_to_means(w_.data(), stage_.data(), count);
}

void LineStageWindow::end(double before) {
  step_.end(w_.data(), p_.data(), stage_.data(), static_cast<std::int64_t>(w_.size()), before, behind());
}

}  // namespace bathline
