// Between two kicks sites and head move uniformly, so that the force on the head is interpolated linearly between the
// two kicks, except for the part due to the head's own displacement, which acts immediately.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include "model/semi_infinite_line/kick_coupling.hpp"

#include <array>

#include "model/semi_infinite_line/keyed_cache.hpp"
#include "model/semi_infinite_line/multistage_convolution.hpp"

namespace bathline {

KickCoupling::KickCoupling(SemiInfiniteLine& line, double h) {
  const std::shared_ptr<const LineParts> parts = line.parts(h, 0.0);
  convolution_ = std::make_shared<const DiscreteConvolution>(parts->kernel, line.options().stiffness);
  attach(line, parts->kernel.certificate, h, parts->noise);
}

KickCoupling::KickCoupling(SemiInfiniteLine& line, const KickDriftSequence& sequence, double h) {
  const SemiInfiniteLineOptions& options = line.options();
  static KeyedCache<std::pair<KickDriftSequence, std::array<double, 3>>, MultistageKernel> cache;
  const std::array<double, 3> parameters{line.courant(h), options.tolerance, options.horizon / h};
  const std::shared_ptr<const MultistageKernel> kernel = cache.get_or_make({sequence, parameters}, [&] {
    return make_multistage_kernel(sequence, parameters[0], parameters[1], parameters[2]);
  });
  convolution_ = std::make_shared<const MultistageConvolution>(sequence, *kernel, options.stiffness);
  attach(line, kernel->certificate, h, nullptr);
}

void KickCoupling::attach(SemiInfiniteLine& line, const KernelCertificate& certificate, double h,
                          std::shared_ptr<const NoiseFilter> noise) const {
  const auto force = [convolution = convolution_](const Axis& axis, double x) {
    const double next_force = axis.next_outputs[0] + convolution->feedthrough() * axis.deferred_displacement;
    const double fraction = axis.phase / convolution->first_drift();
    return axis.force + fraction * (next_force - axis.force) +
           convolution->feedthrough() * (x - axis.last_kick_position);
  };
  line.set_convolution(convolution_->shape(), force, certificate, h, line.make_noise(std::move(noise)));
}

void KickCoupling::start(Axis& axis, double x, double fraction) const {
  const double displacement = x - axis.last_kick_position;
  axis.force += convolution_->feedthrough() * displacement;
  axis.last_kick_position = x;
  axis.deferred_displacement = (1.0 - fraction) * displacement;
  convolution_->commit(axis, stages() - 1, fraction * displacement);
}

void KickCoupling::kick(Axis& axis, int stage, double x, double random) const {
  const double displacement = x - axis.last_kick_position, force = force_at_kick(axis, stage, x);
  axis.work -= 0.5 * ((axis.force + axis.random) + (force + random)) * displacement;
  convolution_->commit(axis, stage, displacement + axis.deferred_displacement);
  axis.force = force;
  axis.random = random;
  axis.last_kick_position = x;
  axis.deferred_displacement = 0.0;
}

}  // namespace bathline
