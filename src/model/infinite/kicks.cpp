// Between two kicks sites and head move evenly, so that the force on the head goes evenly from that at the kick before
// to that at the kick behind, but for the head's own displacement, which it follows at once.
// Tested by tests/model/infinite/infinite_line_test.cpp.
#include "model/infinite/kicks.hpp"

#include <array>

#include "model/infinite/latest.hpp"
#include "model/infinite/staged_memory.hpp"

namespace bathline {

Kicks::Kicks(InfiniteLine& line, double h) {
  const std::shared_ptr<const LineParts> parts = line.parts(h, 0.0);
  memory_ = std::make_shared<const SteppedMemory>(parts->kernel, line.options().stiffness);
  take(line, parts->kernel.certificate, h, parts->noise);
}

Kicks::Kicks(InfiniteLine& line, const Turns& turns, double h) {
  const InfiniteLineOptions& options = line.options();
  static Latest<std::pair<Turns, std::array<double, 3>>, StagedKernel> made;
  const std::array<double, 3> numbers{line.courant(h), options.tolerance, options.horizon / h};
  const std::shared_ptr<const StagedKernel> kernel =
      made.of({turns, numbers}, [&] { return make_staged_kernel(turns, numbers[0], numbers[1], numbers[2]); });
  memory_ = std::make_shared<const StagedMemory>(turns, *kernel, options.stiffness);
  take(line, kernel->certificate, h, nullptr);
}

void Kicks::take(InfiniteLine& line, const KernelCertificate& certificate, double h,
                 std::shared_ptr<const NoiseFilter> noise) const {
  const auto force = [memory = memory_](const Axis& axis, double x) {
    const double at_next = axis.tails[0] + memory->at_once() * axis.carry;
    const double share = axis.phase / memory->first_drift();
    return axis.force + share * (at_next - axis.force) + memory->at_once() * (x - axis.place);
  };
  line.take(memory_->shape(), force, certificate, h, line.at_temperature(std::move(noise)));
}

void Kicks::start(Axis& axis, double x, double share) const {
  const double displacement = x - axis.place;
  axis.force += memory_->at_once() * displacement;
  axis.place = x;
  axis.carry = (1.0 - share) * displacement;
  memory_->commit(axis, stages() - 1, share * displacement);
}

void Kicks::kick(Axis& axis, int stage, double x, double random) const {
  const double displacement = x - axis.place, force = force_at_kick(axis, stage, x);
  axis.work -= 0.5 * ((axis.force + axis.random) + (force + random)) * displacement;
  memory_->commit(axis, stage, displacement + axis.carry);
  axis.force = force;
  axis.random = random;
  axis.place = x;
  axis.carry = 0.0;
}

}  // namespace bathline
