// Between two kicks sites and head move uniformly, so that the force on the head is interpolated linearly between the
// two kicks, except for the part due to the head's own displacement, which acts immediately.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include "model/semi_infinite_line/kick_coupling.hpp"

namespace bathline {

KickCoupling::KickCoupling(SemiInfiniteLine& line, double h, double end_fraction) {
  const std::shared_ptr<const LineParts> parts = line.parts(h, 0.0);
  convolution_ = std::make_shared<const DiscreteConvolution>(parts->kernel, line.options().stiffness);
  const auto force = [convolution = convolution_](const Axis& axis, double x) {
    const double next_force = axis.next_outputs[0] + convolution->feedthrough() * axis.deferred_displacement;
    return axis.force + axis.phase * (next_force - axis.force) +
           convolution->feedthrough() * (x - axis.last_kick_position);
  };
  line.set_convolution(convolution_->shape(), force, parts->kernel.certificate, h, line.make_noise(parts->noise));
  line.set_kick_scheme(h, end_fraction);
}

void KickCoupling::start(Axis& axis, double x, double fraction) const {
  const double displacement = x - axis.last_kick_position;
  axis.force += convolution_->feedthrough() * displacement;
  axis.last_kick_position = x;
  axis.deferred_displacement = (1.0 - fraction) * displacement;
  convolution_->commit(axis, fraction * displacement);
}

void KickCoupling::kick(Axis& axis, double x, double random) const {
  const double displacement = x - axis.last_kick_position, force = force_at_kick(axis, x);
  axis.work -= 0.5 * ((axis.force + axis.random) + (force + random)) * displacement;
  convolution_->commit(axis, displacement + axis.deferred_displacement);
  axis.force = force;
  axis.random = random;
  axis.last_kick_position = x;
  axis.deferred_displacement = 0.0;
}

}  // namespace bathline
