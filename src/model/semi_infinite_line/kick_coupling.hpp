// Kicks on a line without end, one or more a step, each behind a drift.
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
  /// Those of a composition.
  KickCoupling(SemiInfiniteLine& line, const KickDriftSequence& turns, double h);

  int stages() const { return memory_->stages(); }

  double feedthrough() const { return memory_->feedthrough(); }
  /// A head that does not begin where the line is at rest: the share of its displacement that comes before the first
  /// kick is that of the kick.
  void start(Axis& axis, double x, double share) const;
  double force_at_kick(const Axis& axis, int stage, double x) const {
    return axis.next_outputs[static_cast<std::size_t>(stage)] +
           memory_->feedthrough() * (x - axis.last_kick_position + axis.deferred_displacement);
  }
  /// `random` is the force of the noise in this kick.
  void kick(Axis& axis, int stage, double x, double random) const;

 private:
  void take(SemiInfiniteLine& line, const KernelCertificate& certificate, double h,
            std::shared_ptr<const NoiseFilter> noise) const;

  std::shared_ptr<const KickConvolution> memory_;
};

}  // namespace bathline
