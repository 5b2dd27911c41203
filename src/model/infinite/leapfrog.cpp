// Between two kicks sites and head move evenly, so that the force on the head goes evenly from that at the kick before
// to that at the kick behind, but for the head's own displacement, which it follows at once.
// Tested by tests/model/infinite/infinite_line_test.cpp.
#include "model/infinite/leapfrog.hpp"

namespace bathline {

Leapfrog::Leapfrog(InfiniteLine& line, double h) : memory_(make_memory(line, h)) {}

std::shared_ptr<const SteppedMemory> Leapfrog::make_memory(InfiniteLine& line, double h) {
  const std::shared_ptr<const LineParts> parts = line.parts(h, 0.0);
  auto memory = std::make_shared<const SteppedMemory>(parts->kernel, line.options().stiffness);
  const auto force = [memory](const Axis& axis, double x) {
    const double at_next = axis.tails[0] + memory->at_once() * axis.carry;
    return axis.force + axis.phase * (at_next - axis.force) + memory->at_once() * (x - axis.place);
  };
  line.take(memory->shape(), force, parts->kernel.certificate, h, parts->noise);
  return memory;
}

void Leapfrog::start(Axis& axis, double x, double share) const {
  const double displacement = x - axis.place;
  axis.force += memory_->at_once() * displacement;
  axis.place = x;
  axis.carry = (1.0 - share) * displacement;
  memory_->commit(axis, share * displacement);
}

double Leapfrog::force_at_kick(const Axis& axis, double x) const {
  return axis.tails[0] + memory_->at_once() * (x - axis.place + axis.carry);
}

void Leapfrog::kick(Axis& axis, double x, double random) const {
  const double displacement = x - axis.place, force = force_at_kick(axis, x);
  axis.work -= 0.5 * ((axis.force + axis.random) + (force + random)) * displacement;
  memory_->commit(axis, displacement + axis.carry);
  axis.force = force;
  axis.random = random;
  axis.place = x;
  axis.carry = 0.0;
}

}  // namespace bathline
