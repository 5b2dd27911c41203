// The sum of all forces on the particles of an open system that are not in its Lagrangian.
// Tested by tests/study/doubled_variables_test.cpp.
#pragma once

#include <utility>

#include "model/particle_system.hpp"

namespace bathline {

/// f(q, v) - C v + a(q, v, t) + d(t) of a system with the damping matrix C.
class NonconservativeForce final : public Force {
 public:
  NonconservativeForce(const ParticleSystem& system, Eigen::MatrixXd damping)
      : forces_{system.force, system.applied}, drive_(system.drive), damping_(std::move(damping)) {}

  void value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::VectorXd& force) const override {
    force = -damping_ * v;
    Eigen::VectorXd term_value(q.size());
    for (const auto& term : forces_) {
      if (!term) continue;
      term->value(q, v, t, term_value);
      force += term_value;
    }
    if (!drive_) return;
    drive_->value(t, term_value);
    force += term_value;
  }
  void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                 Eigen::MatrixXd& by_v) const override {
    by_q.setZero(q.size(), q.size());
    by_v = -damping_;
    Eigen::MatrixXd term_by_q(q.size(), q.size()), term_by_v(q.size(), q.size());
    for (const auto& term : forces_) {
      if (!term) continue;
      term->jacobians(q, v, t, term_by_q, term_by_v);
      by_q += term_by_q;
      by_v += term_by_v;
    }
  }

 private:
  std::shared_ptr<const Force> forces_[2];
  std::shared_ptr<const Drive> drive_;
  Eigen::MatrixXd damping_;
};

}  // namespace bathline
