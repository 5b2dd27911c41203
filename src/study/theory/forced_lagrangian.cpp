// The forced discrete Euler-Lagrange equations, solved for the next position by Newton's method with dense matrices.
// Tested by tests/study/doubled_variables_test.cpp.
#include "study/theory/forced_lagrangian.hpp"

#include <limits>

#include "solve/dense.hpp"

namespace bathline {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ForcedLagrangian::ForcedLagrangian(const ParticleSystem& system, MatrixXd damping, double gamma, double h)
    : mass_(system.mass), potential_(system.potential), damping_(std::move(damping)), gamma_(gamma), h_(h) {}

VectorXd ForcedLagrangian::potential_gradient(const VectorXd& q, const VectorXd& next) const {
  VectorXd gradient(q.size());
  potential_->gradient(gamma_ * q + (1.0 - gamma_) * next, gradient);
  return gradient;
}

VectorXd ForcedLagrangian::d1_with_force(const VectorXd& q, const VectorXd& next) const {
  const VectorXd displacement = next - q;
  const VectorXd d1 = -mass_.cwiseProduct(displacement) / h_ - h_ * gamma_ * potential_gradient(q, next);
  const VectorXd force = -gamma_ * (damping_ * displacement);
  return d1 + force;
}

VectorXd ForcedLagrangian::d2_with_force(const VectorXd& q, const VectorXd& next) const {
  const VectorXd displacement = next - q;
  const VectorXd d2 = mass_.cwiseProduct(displacement) / h_ - h_ * (1.0 - gamma_) * potential_gradient(q, next);
  const VectorXd force = -(1.0 - gamma_) * (damping_ * displacement);
  return d2 + force;
}

VectorXd ForcedLagrangian::momentum_before(const VectorXd& q, const VectorXd& next) const {
  return -d1_with_force(q, next);
}

VectorXd ForcedLagrangian::momentum_after(const VectorXd& q, const VectorXd& next) const {
  return d2_with_force(q, next);
}

std::optional<VectorXd> ForcedLagrangian::first(const VectorXd& q0, const VectorXd& p0) const {
  return solve(q0, p0, q0 + h_ * p0.cwiseQuotient(mass_));
}

std::optional<VectorXd> ForcedLagrangian::next(const VectorXd& before, const VectorXd& q) const {
  return solve(q, d2_with_force(before, q), 2.0 * q - before);
}

std::optional<VectorXd> ForcedLagrangian::solve(const VectorXd& q, const VectorXd& impulse, VectorXd guess) const {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  VectorXd x = std::move(guess);
  MatrixXd hessian(x.size(), x.size());
  double previous_size = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 50; ++iteration) {
    potential_->hessian(gamma_ * q + (1.0 - gamma_) * x, hessian);
    MatrixXd jacobian = h_ * gamma_ * (1.0 - gamma_) * hessian + gamma_ * damping_;
    jacobian.diagonal() += mass_ / h_;
    const VectorXd update = Lu(jacobian).solve(VectorXd(d1_with_force(q, x) + impulse));
    const double size = update.norm(), scale = x.norm() + q.norm();
    if (!(size < std::numeric_limits<double>::infinity())) return std::nullopt;
    x += update;
    // Converged: the correction is at round-off, or small and no longer decreasing.
    if (size <= epsilon * scale || (size >= 0.5 * previous_size && size <= 1e-8 * scale)) return x;
    previous_size = size;
  }
  return std::nullopt;
}

}  // namespace bathline
