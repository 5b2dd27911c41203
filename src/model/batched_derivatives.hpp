// Derivatives of a potential at many points at once.
#pragma once

#include <Eigen/Core>

namespace bathline {

/// Implemented by potentials that compute their Hessians at many points faster together than one by one.
class BatchedHessian {
 public:
  virtual ~BatchedHessian() = default;
  /// At the columns of `q`, side by side, with the bits of Potential::hessian.
  virtual void hessians(const Eigen::MatrixXd& q, Eigen::MatrixXd& hessians) const = 0;
};

/// The same for gradients.
class BatchedGradient {
 public:
  virtual ~BatchedGradient() = default;
  /// Coordinate i of `coordinates` at point r is q[i * points + r], and `gradients` has the same layout. The bits are
  /// those of Potential::gradient at every point. `points` is a multiple of `simd_width`.
  virtual void gradients(int coordinates, int points, const double* q, double* gradients) const = 0;
};

}  // namespace bathline
