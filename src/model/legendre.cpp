// Newton's method for the velocities, and the test for degenerate Lagrangians.
// Tested by tests/advance/lagrangian_test.cpp.
#include "model/legendre.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

LegendreMap::LegendreMap(std::shared_ptr<const Lagrangian> lagrangian, const VectorXd& masses, const VectorXd& q,
                         const VectorXd& v, double z)
    : lagrangian_(std::move(lagrangian)),
      masses_(masses),
      n_(q.size()),
      x_(2 * n_ + 2),
      slopes_(2 * n_ + 2),
      residual_(n_),
      curvatures_(2 * n_ + 1, 2 * n_ + 1),
      inertia_(n_, n_),
      scaled_(n_, n_) {
  put(q, v, 0.0, z);
  orientation_ = orientation(inertia());
}

VectorXd LegendreMap::momentum(const VectorXd& q, const VectorXd& v, double t, double z) {
  put(q, v, t, z);
  lagrangian_->slopes(x_.data(), slopes_.data());
  return masses_.cwiseProduct(v) + slopes_.segment(n_, n_);
}

double LegendreMap::energy(const VectorXd& q, const VectorXd& v, double t, double z) {
  const double of_heads = 0.5 * v.dot(masses_.cwiseProduct(v));
  put(q, v, t, z);
  lagrangian_->slopes(x_.data(), slopes_.data());
  return of_heads + v.dot(slopes_.segment(n_, n_)) - lagrangian_->value(x_.data());
}

std::optional<std::string> LegendreMap::find_velocity(const VectorXd& q, const VectorXd& p, double t, double z,
                                                      VectorXd& v) {
  constexpr int most_iterations = 50;
  constexpr double roundoff = 8.0 * std::numeric_limits<double>::epsilon();
  double last = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    put(q, v, t, z);
    lagrangian_->slopes(x_.data(), slopes_.data());
    residual_ = masses_.cwiseProduct(v) + slopes_.segment(n_, n_) - p;
    const double size = residual_.norm();
    if (!std::isfinite(size)) break;
    const MatrixXd& inertia = this->inertia();
    if (orientation(inertia) != orientation_) return obstacle(q, v, t, z);
    const VectorXd correction = inertia.partialPivLu().solve(residual_);
    v -= correction;
    // Either it is one more than enough, or round-off is all that is left.
    if (size <= roundoff * p.norm() || (size >= 0.5 * last && correction.norm() <= 1e-11 * v.norm())) {
      return std::nullopt;
    }
    last = size;
  }
  return fmt::format("no velocities were found that belong to the momenta at t = {:.6g}, q = [{:.6g}], p = [{:.6g}]", t,
                     fmt::join(q, ", "), fmt::join(p, ", "));
}

// (dL/dv)' = dL/dq + dL/dz dL/dv + f, with z' = L.
VectorXd LegendreMap::acceleration(const VectorXd& q, const VectorXd& v, double t, double z, const VectorXd& force) {
  put(q, v, t, z);
  lagrangian_->slopes(x_.data(), slopes_.data());
  residual_.setZero();
  lagrangian_->momentum_rates(x_.data(), residual_.data());
  const MatrixXd& inertia = this->inertia();
  residual_ = force + slopes_.head(n_) - residual_ - curvatures_.block(n_, 0, n_, n_) * v;
  residual_ += slopes_[2 * n_ + 1] * slopes_.segment(n_, n_);
  residual_ -= lagrangian_->value(x_.data()) * curvatures_.col(2 * n_).segment(n_, n_);
  return inertia.partialPivLu().solve(residual_);
}

std::optional<std::string> LegendreMap::obstacle(const VectorXd& q, const VectorXd& v, double t, double z) {
  put(q, v, t, z);
  const int found = orientation(inertia());
  if (found != 0 && found == orientation_) return std::nullopt;
  return fmt::format(
      "the Lagrangian is degenerate at t = {:.6g}, q = [{:.6g}], v = [{:.6g}]: d2L/dv2 is singular{}", t,
      fmt::join(q, ", "), fmt::join(v, ", "),
      found == 0 ? "" : " between there and the start, where it has another number of negative eigenvalues");
}

void LegendreMap::put(const VectorXd& q, const VectorXd& v, double t, double z) {
  x_.head(n_) = q;
  x_.segment(n_, n_) = v;
  x_[2 * n_] = t;
  x_[2 * n_ + 1] = z;
}

const MatrixXd& LegendreMap::inertia() {
  lagrangian_->curvatures(x_.data(), curvatures_.data());
  inertia_ = curvatures_.block(n_, n_, n_, n_);
  inertia_.diagonal() += masses_;
  return inertia_;
}

int LegendreMap::orientation(const MatrixXd& matrix) {
  // Coordinates have units of their own: what counts is the matrix with rows and columns of size one.
  const VectorXd scale = matrix.cwiseAbs().rowwise().maxCoeff().cwiseSqrt().cwiseInverse();
  scaled_ = scale.asDiagonal() * matrix * scale.asDiagonal();
  if (!scaled_.allFinite()) return 0;
  int sign = 1;
  const double trace = scaled_.trace();
  // Signs may change by twos, which no determinant shows.
  int negatives = 0;
  if (n_ > 2) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(scaled_, Eigen::EigenvaluesOnly);
    negatives = static_cast<int>((solver.eigenvalues().array() < 0.0).count());
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
