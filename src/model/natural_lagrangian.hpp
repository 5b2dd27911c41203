// The natural Lagrangian, of constant masses and a potential.
#pragma once

#include "model/particle_system.hpp"

namespace bathline {

/// L = v^T M v / 2 - V(q) + gamma z, with gamma = 0 unless the system is one of contact mechanics.
class NaturalLagrangian final : public Lagrangian {
 public:
  explicit NaturalLagrangian(const ParticleSystem& system);

  double value(const double* x) const override;
  void gradient(const double* x, double* gradient) const override;
  void hessian(const double* x, double* hessian) const override;
  bool depends_on_action() const override { return gamma_ != 0.0; }

 private:
  const Eigen::VectorXd& position(const double* x) const;

  Eigen::VectorXd mass_;
  std::shared_ptr<const Potential> potential_;
  double gamma_;
  mutable Eigen::VectorXd q_, gradient_;
  mutable Eigen::MatrixXd hessian_;
};

/// The same system with its masses, potential and gamma expressed as a Lagrangian; a system that has a Lagrangian is
/// returned unchanged.
ParticleSystem with_lagrangian(const ParticleSystem& system);

}  // namespace bathline
