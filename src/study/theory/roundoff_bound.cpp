// Counts the roundings of a step and propagates them with its Jacobian.
// Tested by tests/study/convergence_test.cpp.
#include "study/theory/roundoff_bound.hpp"

#include <cmath>

#include "study/theory/roundings.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

RoundoffBound::RoundoffBound(const ParticleSystem& system, MatrixXd damping, double gamma, double h)
    : mass_(system.mass),
      potential_(system.potential),
      damping_(std::move(damping)),
      gamma_(gamma),
      h_(h),
      rounding_((roundings_of_a_term + static_cast<double>(system.size())) * unit_roundoff),
      covariance_(MatrixXd::Zero(2 * system.size(), 2 * system.size())),
      transform_(VectorXd::Zero(system.size())),
      matching_(VectorXd::Zero(system.size())) {}

void RoundoffBound::step(const VectorXd& q, const VectorXd& p, const VectorXd& next, const VectorXd& next_p) {
  const Index n = q.size();
  const double g = gamma_;
  const VectorXd stage = g * q + (1.0 - g) * next;
  VectorXd gradient(n);
  MatrixXd hessian(n, n);
  potential_->gradient(stage, gradient);
  potential_->hessian(stage, hessian);

  // The Jacobian J = A^-1 B of  q+ - h g M^-1 p+ = q + h (1-g) M^-1 p,
  // h (1-g) V'' q+ + C q+ + p+ = p - h g V'' q + C q.
  MatrixXd a = MatrixXd::Identity(2 * n, 2 * n), b = a;
  a.topRightCorner(n, n).diagonal() = -h_ * g * mass_.cwiseInverse();
  a.bottomLeftCorner(n, n) = h_ * (1.0 - g) * hessian + damping_;
  b.topRightCorner(n, n).diagonal() = h_ * (1.0 - g) * mass_.cwiseInverse();
  b.bottomLeftCorner(n, n) = damping_ - h_ * g * hessian;
  const MatrixXd jacobian = a.partialPivLu().solve(b);

  // Errors of the forced equations: impulses before the step, from the two Legendre transforms that are equated.
  const VectorXd position_size = q.cwiseAbs() + next.cwiseAbs();
  const VectorXd force = gradient.cwiseAbs() + hessian.cwiseAbs() * stage.cwiseAbs();
  const VectorXd drag = damping_.cwiseAbs() * (next - q).cwiseAbs();
  const VectorXd transform = rounding_ * (mass_.cwiseProduct(position_size) / h_ + h_ * force + drag);
  matching_ = transform_ + transform;
  transform_ = transform;
  // Errors of the integrator: its sums and, if it is implicit, the residual of Newton's method.
  const VectorXd impulses = p.cwiseAbs() + next_p.cwiseAbs();
  VectorXd in_q = rounding_ * (position_size + h_ * impulses.cwiseQuotient(mass_));
  VectorXd in_p = rounding_ * (impulses + h_ * force + damping_.cwiseAbs() * (h_ * impulses.cwiseQuotient(mass_)));
  if (g > 0.0 && g < 1.0) {
    const double change = (next_p - p).norm();
    const double newton_residual =
        newton_roundoff * ((p.norm() + change) / g + h_ * force.norm()) + newton_relative * change;
    in_q.array() += h_ * newton_residual / mass_.array();
    in_p.array() += newton_residual;
  }

  covariance_.bottomRightCorner(n, n).diagonal() += matching_.cwiseAbs2();
  covariance_ = (jacobian * covariance_ * jacobian.transpose()).eval();
  covariance_.topLeftCorner(n, n).diagonal() += in_q.cwiseAbs2();
  covariance_.bottomRightCorner(n, n).diagonal() += in_p.cwiseAbs2();
  steps_ += 1.0;
}

VectorXd RoundoffBound::spread() const {
  const double errors = 3.0 * static_cast<double>(mass_.size()) * steps_;
  return (errors * covariance_.diagonal()).cwiseSqrt();
}

VectorXd RoundoffBound::positions() const { return spread().head(mass_.size()); }

VectorXd RoundoffBound::momenta() const { return spread().tail(mass_.size()) + transform_; }

}  // namespace bathline
