// White friction and noise on nonlinear couplings s(q).
// Tested by tests/study/coupling_test.cpp.
#include "model/coupled_friction.hpp"

#include <algorithm>

namespace bathline {

bool CoupledFriction::is_noisy() const {
  return std::any_of(dampers_.begin(), dampers_.end(), [](const auto& damper) { return damper.temperature > 0.0; });
}

void CoupledFriction::begin_at(const Eigen::VectorXd& q0) {
  for (CoupledDamper& damper : dampers_) damper.attachment.begin_at(q0);
}

void CoupledFriction::value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t,
                            Eigen::VectorXd& force) const {
  force.setZero(v.size());
  if (other_) other_->value(q, v, t, force);
  for (const CoupledDamper& damper : dampers_) {
    const auto gradient = damper.attachment.gradient_at(q, t);
    force.noalias() -= damper.damping * (gradient * (gradient.transpose() * v));
  }
}

// d/dq [s' (s'.v)] = s'' (s'.v) + s' (s'' v)^T
void CoupledFriction::jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                                Eigen::MatrixXd& by_v) const {
  by_q.setZero(v.size(), v.size());
  by_v.setZero(v.size(), v.size());
  if (other_) other_->jacobians(q, v, t, by_q, by_v);
  Eigen::MatrixXd second(v.size(), v.size());
  for (const auto& [attachment, damping, temperature, in_time] : dampers_) {
    const auto gradient = attachment.gradient_at(q, t);
    by_v -= damping * gradient * gradient.transpose();
    std::vector<double> unit(static_cast<std::size_t>(attachment.axes()), 0.0);
    for (Eigen::Index axis = 0; axis < gradient.cols(); ++axis) {
      unit[static_cast<std::size_t>(axis)] = 1.0;
      second.setZero();
      attachment.nonlinear()->add_hessian(q.data(), t, unit, second);
      unit[static_cast<std::size_t>(axis)] = 0.0;
      by_q -= damping * (gradient.col(axis).dot(v) * second + gradient.col(axis) * (second * v).transpose());
    }
  }
}

std::span<const double> CoupledFriction::numbers(std::int64_t step, int draw) {
  std::size_t count = 0;
  for (const CoupledDamper& damper : dampers_) count += static_cast<std::size_t>(damper.attachment.axes());
  return noise_.at(step, draw, count);
}

}  // namespace bathline
