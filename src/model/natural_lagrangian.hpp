// The Lagrangian that masses and a potential make.
#pragma once

#include "model/particle_system.hpp"

namespace bathline {

/// L = v^T M v / 2 - V(q) + gamma z, the last where the system is one of contact mechanics.
class NaturalLagrangian final : public Lagrangian {
 public:
  explicit NaturalLagrangian(const ParticleSystem& system);

  double value(const double* x) const override;
  void gradient(const double* x, double* slopes) const override;
  void hessian(const double* x, double* curvatures) const override;
  bool depends_on_action() const override { return gamma_ != 0.0; }

 private:
  const Eigen::VectorXd& position(const double* x) const;

  Eigen::VectorXd mass_;
  std::shared_ptr<const Potential> potential_;
  double gamma_;
  mutable Eigen::VectorXd q_, gradient_;
  mutable Eigen::MatrixXd hessian_;
};

/// The same system with all that its masses, its potential and gamma do in a Lagrangian. One that has a Lagrangian is
/// itself.
ParticleSystem with_lagrangian(const ParticleSystem& system);

}  // namespace bathline
