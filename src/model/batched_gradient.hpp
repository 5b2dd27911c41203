// Gradients at many places side by side.
#pragma once

namespace bathline {

/// What a potential may be besides: one that finds its gradients at many places faster than one after the other.
class BatchedGradient {
 public:
  virtual ~BatchedGradient() = default;
  /// Coordinate i of `coordinates` of place r is number i * places + r of `q`, and so are the derivatives in
  /// `gradients`. The same bits as Potential::gradient at every place. `places` is a multiple of the lanes of a
  /// register.
  virtual void gradients(int coordinates, int places, const double* q, double* gradients) const = 0;
};

}  // namespace bathline
