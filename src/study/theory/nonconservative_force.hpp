// All that acts on the particles of an open system besides its Lagrangian, as one force.
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
    Eigen::VectorXd more(q.size());
    for (const auto& one : forces_) {
      if (!one) continue;
      one->value(q, v, t, more);
      force += more;
    }
    if (!drive_) return;
    drive_->value(t, more);
    force += more;
  }
  void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                 Eigen::MatrixXd& by_v) const override {
    by_q.setZero(q.size(), q.size());
    by_v = -damping_;
    Eigen::MatrixXd more_by_q(q.size(), q.size()), more_by_v(q.size(), q.size());
    for (const auto& one : forces_) {
      if (!one) continue;
      one->jacobians(q, v, t, more_by_q, more_by_v);
      by_q += more_by_q;
      by_v += more_by_v;
    }
  }

 private:
  std::shared_ptr<const Force> forces_[2];
  std::shared_ptr<const Drive> drive_;
  Eigen::MatrixXd damping_;
};

}  // namespace bathline
