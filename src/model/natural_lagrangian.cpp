// The natural Lagrangian and its derivatives.
// Tested by tests/steppers/contact_stages_test.cpp.
#include "model/natural_lagrangian.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

NaturalLagrangian::NaturalLagrangian(const ParticleSystem& system)
    : mass_(system.mass),
      potential_(system.potential),
      gamma_(system.contact ? system.contact->gamma : 0.0),
      q_(mass_.size()),
      gradient_(mass_.size()),
      hessian_(mass_.size(), mass_.size()) {}

const VectorXd& NaturalLagrangian::position(const double* x) const {
  q_ = Eigen::Map<const VectorXd>(x, q_.size());
  return q_;
}

double NaturalLagrangian::value(const double* x) const {
  const Index n = mass_.size();
  const Eigen::Map<const VectorXd> v(x + n, n);
  return 0.5 * v.dot(mass_.cwiseProduct(v)) - potential_->value(position(x)) + gamma_ * x[2 * n + 1];
}

void NaturalLagrangian::gradient(const double* x, double* gradient) const {
  const Index n = mass_.size();
  potential_->gradient(position(x), gradient_);
  Eigen::Map<VectorXd> all(gradient, 2 * n + 2);
  all << -gradient_, mass_.cwiseProduct(Eigen::Map<const VectorXd>(x + n, n)), 0.0, gamma_;
}

void NaturalLagrangian::hessian(const double* x, double* hessian) const {
  const Index n = mass_.size();
  potential_->hessian(position(x), hessian_);
  Eigen::Map<MatrixXd> all(hessian, 2 * n + 1, 2 * n + 1);
  all.setZero();
  all.topLeftCorner(n, n) = -hessian_;
  all.diagonal().segment(n, n) = mass_;
}

ParticleSystem with_lagrangian(const ParticleSystem& system) {
  if (system.lagrangian) return system;
  ParticleSystem other = system;
  other.lagrangian = std::make_shared<NaturalLagrangian>(system);
  other.mass.setZero();
  other.potential = std::make_shared<QuadraticPotential>(MatrixXd::Zero(system.size(), system.size()));
  return other;
}

}  // namespace bathline
