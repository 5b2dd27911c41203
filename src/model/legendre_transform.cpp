// Newton's method for the velocities, and the test for degenerate Lagrangians.
// Tested by tests/steppers/lagrangian_test.cpp.
#include "model/legendre_transform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "solve/dense.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

LegendreTransform::LegendreTransform(std::shared_ptr<const Lagrangian> lagrangian, const VectorXd& masses,
                                     const VectorXd& q, const VectorXd& v, double z)
    : lagrangian_(std::move(lagrangian)),
      masses_(masses),
      n_(q.size()),
      x_(2 * n_ + 2),
      gradient_(2 * n_ + 2),
      residual_(n_),
      hessian_(2 * n_ + 1, 2 * n_ + 1),
      mass_matrix_(n_, n_),
      scaled_(n_, n_) {
  set_point(q, v, 0.0, z);
  signature_ = signature(mass_matrix());
}

VectorXd LegendreTransform::momentum(const VectorXd& q, const VectorXd& v, double t, double z) {
  set_point(q, v, t, z);
  lagrangian_->gradient(x_.data(), gradient_.data());
  return masses_.cwiseProduct(v) + gradient_.segment(n_, n_);
}

double LegendreTransform::energy(const VectorXd& q, const VectorXd& v, double t, double z) {
  const double head_energy = 0.5 * v.dot(masses_.cwiseProduct(v));
  set_point(q, v, t, z);
  lagrangian_->gradient(x_.data(), gradient_.data());
  return head_energy + v.dot(gradient_.segment(n_, n_)) - lagrangian_->value(x_.data());
}

std::optional<std::string> LegendreTransform::find_velocity(const VectorXd& q, const VectorXd& p, double t, double z,
                                                            VectorXd& v) {
  constexpr int max_iterations = 50;
  constexpr double roundoff = 8.0 * std::numeric_limits<double>::epsilon();
  double last = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    set_point(q, v, t, z);
    lagrangian_->gradient(x_.data(), gradient_.data());
    residual_ = masses_.cwiseProduct(v) + gradient_.segment(n_, n_) - p;
    const double size = residual_.norm();
    if (!std::isfinite(size)) break;
    const MatrixXd& mass_matrix = this->mass_matrix();
    if (signature(mass_matrix) != signature_) return unsupported_reason(q, v, t, z);
    const VectorXd correction = Lu(mass_matrix).solve(residual_);
    v -= correction;
    // Either the residual was at round-off before this correction, or it does not decrease any more.
    if (size <= roundoff * p.norm() || (size >= 0.5 * last && correction.norm() <= 1e-11 * v.norm())) {
      return std::nullopt;
    }
    last = size;
  }
  return fmt::format("no velocities were found that belong to the momenta at t = {:.6g}, q = [{:.6g}], p = [{:.6g}]", t,
                     fmt::join(q, ", "), fmt::join(p, ", "));
}

// (dL/dv)' = dL/dq + dL/dz dL/dv + f, with z' = L.
VectorXd LegendreTransform::acceleration(const VectorXd& q, const VectorXd& v, double t, double z,
                                         const VectorXd& force) {
  set_point(q, v, t, z);
  lagrangian_->gradient(x_.data(), gradient_.data());
  residual_.setZero();
  lagrangian_->momentum_rates(x_.data(), residual_.data());
  const MatrixXd& mass_matrix = this->mass_matrix();
  residual_ = force + gradient_.head(n_) - residual_ - hessian_.block(n_, 0, n_, n_) * v;
  residual_ += gradient_[2 * n_ + 1] * gradient_.segment(n_, n_);
  residual_ -= lagrangian_->value(x_.data()) * hessian_.col(2 * n_).segment(n_, n_);
  return Lu(mass_matrix).solve(residual_);
}

std::optional<std::string> LegendreTransform::unsupported_reason(const VectorXd& q, const VectorXd& v, double t,
                                                                 double z) {
  set_point(q, v, t, z);
  const int current = signature(mass_matrix());
  if (current != 0 && current == signature_) return std::nullopt;
  return fmt::format(
      "the Lagrangian is degenerate at t = {:.6g}, q = [{:.6g}], v = [{:.6g}]: d2L/dv2 is singular{}", t,
      fmt::join(q, ", "), fmt::join(v, ", "),
      current == 0 ? "" : " between there and the start, where it has another number of negative eigenvalues");
}

void LegendreTransform::set_point(const VectorXd& q, const VectorXd& v, double t, double z) {
  x_.head(n_) = q;
  x_.segment(n_, n_) = v;
  x_[2 * n_] = t;
  x_[2 * n_ + 1] = z;
}

const MatrixXd& LegendreTransform::mass_matrix() {
  lagrangian_->hessian(x_.data(), hessian_.data());
  mass_matrix_ = hessian_.block(n_, n_, n_, n_);
  mass_matrix_.diagonal() += masses_;
  return mass_matrix_;
}

int LegendreTransform::signature(const MatrixXd& matrix) {
  // Coordinates may have different units: rows and columns are scaled to size one before pivots are compared.
  const VectorXd scale = matrix.cwiseAbs().rowwise().maxCoeff().cwiseSqrt().cwiseInverse();
  scaled_ = scale.asDiagonal() * matrix * scale.asDiagonal();
  if (!scaled_.allFinite()) return 0;
  int sign = 1;
  const double trace = scaled_.trace();
  // Two eigenvalues may change sign together, which the sign of the determinant does not show.
  int negatives = 0;
  if (n_ > 2) {
    negatives = static_cast<int>((symmetric_eigenvalues(scaled_).array() < 0.0).count());
  }
  double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
  for (Index column = 0; column < n_; ++column) {
    Index pivot = 0;
    const double size = scaled_.col(column).tail(n_ - column).cwiseAbs().maxCoeff(&pivot);
    largest = std::max(largest, size);
    smallest = std::min(smallest, size);
    if (!(smallest > 1e-12 * largest)) return 0;
    if (pivot > 0) {
      scaled_.row(column).swap(scaled_.row(column + pivot));
      sign = -sign;
    }
    if (scaled_(column, column) < 0.0) sign = -sign;
    for (Index row = column + 1; row < n_; ++row) {
      scaled_.row(row) -= scaled_(row, column) / scaled_(column, column) * scaled_.row(column);
    }
  }
  if (n_ <= 2) negatives = sign < 0 ? 1 : trace < 0.0 ? 2 : 0;
  return 1 + negatives;
}

}  // namespace bathline
