// Kicks on a semi-infinite line, one a step, each after a drift.
#pragma once

#include <memory>

#include "model/semi_infinite_line/semi_infinite_line.hpp"

namespace bathline {

class KickCoupling {
 public:
  using Axis = SemiInfiniteLine::Axis;

  /// Steps of h; `end_fraction` as in SemiInfiniteLine::set_kick_scheme.
  KickCoupling(SemiInfiniteLine& line, double h, double end_fraction);

  double feedthrough() const { return convolution_->feedthrough(); }
  /// Sets the state for a head that does not start at the rest position of the line: `fraction` of its displacement
  /// enters before the first kick, the rest is deferred.
  void start(Axis& axis, double x, double fraction) const;
  double force_at_kick(const Axis& axis, double x) const {
    return axis.next_outputs[0] +
           convolution_->feedthrough() * (x - axis.last_kick_position + axis.deferred_displacement);
  }
  /// `random` is the random force in this kick.
  void kick(Axis& axis, double x, double random) const;

 private:
  std::shared_ptr<const DiscreteConvolution> convolution_;
};

}  // namespace bathline
