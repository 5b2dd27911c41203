// Kicks on a semi-infinite line, one or more a step, each after a drift.
#pragma once

#include <memory>

#include "model/semi_infinite_line/semi_infinite_line.hpp"
#include "model/semi_infinite_line/multistage_kernel.hpp"

namespace bathline {

class KickCoupling {
 public:
  using Axis = SemiInfiniteLine::Axis;

  /// One kick a step.
  KickCoupling(SemiInfiniteLine& line, double h);
  /// The kicks of a composition.
  KickCoupling(SemiInfiniteLine& line, const KickDriftSequence& sequence, double h);

  int stages() const { return convolution_->stages(); }

  double feedthrough() const { return convolution_->feedthrough(); }
  /// Sets the state for a head that does not start at the rest position of the line: `fraction` of its displacement
  /// enters before the first kick, the rest is deferred.
  void start(Axis& axis, double x, double fraction) const;
  double force_at_kick(const Axis& axis, int stage, double x) const {
    return axis.next_outputs[static_cast<std::size_t>(stage)] +
           convolution_->feedthrough() * (x - axis.last_kick_position + axis.deferred_displacement);
  }
  /// `random` is the random force in this kick.
  void kick(Axis& axis, int stage, double x, double random) const;

 private:
  void attach(SemiInfiniteLine& line, const KernelCertificate& certificate, double h,
              std::shared_ptr<const NoiseFilter> noise) const;

  std::shared_ptr<const KickConvolution> convolution_;
};

}  // namespace bathline
