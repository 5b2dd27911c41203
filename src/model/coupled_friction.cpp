// White friction and noise on nonlinear couplings s(q).
// Tested by tests/study/coupling_test.cpp.
#include "model/coupled_friction.hpp"

#include <algorithm>

namespace bathline {

bool CoupledFriction::is_noisy() const {
  return std::any_of(dampers_.begin(), dampers_.end(), [](const auto& damper) { return damper.temperature > 0.0; });
}

void CoupledFriction::begin_at(const Eigen::VectorXd& q0) {
  q_.resize(0);
  for (CoupledDamper& damper : dampers_) damper.attachment.begin_at(q0);
}

void CoupledFriction::value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t,
                            Eigen::VectorXd& force) const {
  force.setZero(v.size());
  if (other_) other_->value(q, v, t, force);
  const std::vector<Eigen::MatrixXd>& gradients = gradients_at(q);
  for (std::size_t d = 0; d < dampers_.size(); ++d) {
    for (Eigen::Index axis = 0; axis < gradients[d].cols(); ++axis) {
      force -= (dampers_[d].damping * gradients[d].col(axis).dot(v)) * gradients[d].col(axis);
    }
  }
}

void CoupledFriction::add_damping(const Eigen::VectorXd& q, Eigen::Ref<Eigen::MatrixXd> matrix) const {
  const std::vector<Eigen::MatrixXd>& gradients = gradients_at(q);
  for (std::size_t d = 0; d < dampers_.size(); ++d) {
    matrix.noalias() += dampers_[d].damping * gradients[d].lazyProduct(gradients[d].transpose());
  }
}

const std::vector<Eigen::MatrixXd>& CoupledFriction::gradients_at(const Eigen::VectorXd& q) const {
  if (gradients_.size() == dampers_.size() && q_.size() == q.size() && q_ == q) return gradients_;
  q_ = q;
  gradients_.resize(dampers_.size());
  for (std::size_t d = 0; d < dampers_.size(); ++d) gradients_[d] = dampers_[d].attachment.gradient_at(q, 0.0);
  return gradients_;
}

// d/dq [s' (s'.v)] = s'' (s'.v) + s' (s'' v)^T. Every iteration of every step comes here, so that nothing is allocated.
void CoupledFriction::jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                                Eigen::MatrixXd& by_v) const {
  by_q.setZero(v.size(), v.size());
  by_v.setZero(v.size(), v.size());
  if (other_) other_->jacobians(q, v, t, by_q, by_v);
  static thread_local Eigen::MatrixXd second;
  static thread_local std::vector<double> unit;
  second.resize(v.size(), v.size());
  const std::vector<Eigen::MatrixXd>& gradients = gradients_at(q);
  for (std::size_t d = 0; d < dampers_.size(); ++d) {
    const auto& [attachment, damping, temperature, in_time] = dampers_[d];
    const Eigen::MatrixXd& gradient = gradients[d];
    unit.assign(static_cast<std::size_t>(attachment.axes()), 0.0);
    for (Eigen::Index axis = 0; axis < gradient.cols(); ++axis) {
      unit[static_cast<std::size_t>(axis)] = 1.0;
      second.setZero();
      attachment.nonlinear()->add_hessian(q.data(), t, unit, second);
      unit[static_cast<std::size_t>(axis)] = 0.0;
      const auto slope = gradient.col(axis);
      const double along = damping * slope.dot(v);
      for (Eigen::Index j = 0; j < v.size(); ++j) {
        by_v.col(j) -= (damping * slope[j]) * slope;
        by_q.col(j) -= along * second.col(j) + (damping * second.col(j).dot(v)) * slope;
      }
    }
  }
}

std::span<const double> CoupledFriction::numbers(std::int64_t step, int draw) {
  std::size_t count = 0;
  for (const CoupledDamper& damper : dampers_) count += static_cast<std::size_t>(damper.attachment.axes());
  return noise_.at(step, draw, count);
}

}  // namespace bathline
