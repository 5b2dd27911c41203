// Gradients of a potential at many points at once.
#pragma once

namespace bathline {

/// Implemented by potentials that compute their gradients at many points faster together than one by one.
class BatchedGradient {
 public:
  virtual ~BatchedGradient() = default;
  /// Coordinate i of `coordinates` at point r is q[i * points + r], and `gradients` has the same layout. The bits are
  /// those of Potential::gradient at every point. `points` is a multiple of `simd_width`.
  virtual void gradients(int coordinates, int points, const double* q, double* gradients) const = 0;
};

}  // namespace bathline
