// Between two kicks sites and head move evenly, so that the force on the head goes evenly from that at the kick before
// to that at the kick behind, but for the head's own displacement, which it follows at once.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include "model/semi_infinite_line/kick_coupling.hpp"

#include <array>

#include "model/semi_infinite_line/keyed_cache.hpp"
#include "model/semi_infinite_line/multistage_convolution.hpp"

namespace bathline {

KickCoupling::KickCoupling(SemiInfiniteLine& line, double h) {
  const std::shared_ptr<const LineParts> parts = line.parts(h, 0.0);
  memory_ = std::make_shared<const DiscreteConvolution>(parts->kernel, line.options().stiffness);
  take(line, parts->kernel.certificate, h, parts->noise);
}

KickCoupling::KickCoupling(SemiInfiniteLine& line, const KickDriftSequence& turns, double h) {
  const SemiInfiniteLineOptions& options = line.options();
  static KeyedCache<std::pair<KickDriftSequence, std::array<double, 3>>, MultistageKernel> made;
  const std::array<double, 3> numbers{line.courant(h), options.tolerance, options.horizon / h};
  const std::shared_ptr<const MultistageKernel> kernel =
      made.of({turns, numbers}, [&] { return make_multistage_kernel(turns, numbers[0], numbers[1], numbers[2]); });
  memory_ = std::make_shared<const MultistageConvolution>(turns, *kernel, options.stiffness);
  take(line, kernel->certificate, h, nullptr);
}

void KickCoupling::take(SemiInfiniteLine& line, const KernelCertificate& certificate, double h,
                        std::shared_ptr<const NoiseFilter> noise) const {
  const auto force = [memory = memory_](const Axis& axis, double x) {
    const double at_next = axis.next_outputs[0] + memory->feedthrough() * axis.deferred_displacement;
    const double share = axis.phase / memory->first_drift();
    return axis.force + share * (at_next - axis.force) + memory->feedthrough() * (x - axis.last_kick_position);
  };
  line.take(memory_->shape(), force, certificate, h, line.at_temperature(std::move(noise)));
}

void KickCoupling::start(Axis& axis, double x, double share) const {
  const double displacement = x - axis.last_kick_position;
  axis.force += memory_->feedthrough() * displacement;
  axis.last_kick_position = x;
  axis.deferred_displacement = (1.0 - share) * displacement;
  memory_->commit(axis, stages() - 1, share * displacement);
}

void KickCoupling::kick(Axis& axis, int stage, double x, double random) const {
  const double displacement = x - axis.last_kick_position, force = force_at_kick(axis, stage, x);
  axis.work -= 0.5 * ((axis.force + axis.random) + (force + random)) * displacement;
  memory_->commit(axis, stage, displacement + axis.deferred_displacement);
  axis.force = force;
  axis.random = random;
  axis.last_kick_position = x;
  axis.deferred_displacement = 0.0;
}

}  // namespace bathline
