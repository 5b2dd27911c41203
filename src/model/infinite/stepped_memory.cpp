// Displacements enter the exponentials once the first lags are behind them.
// Tested by tests/model/infinite/infinite_line_test.cpp.
#include "model/infinite/stepped_memory.hpp"

#include <algorithm>

namespace bathline {

namespace {

Modes modes_of(const LineKernel& kernel) {
  // Modes that only one of the two kernels has weigh nothing in the other.
  const std::vector<Decay>& on_stage = kernel.on_stage.decays;
  const std::vector<Decay>& between = kernel.between_steps.decays.empty() ? on_stage : kernel.between_steps.decays;
  Modes::Row bases, drives, weights(between.size()), weights_between;
  for (const Decay& decay : between) {
    bases.push_back(std::exp(decay.exponent()));
    drives.push_back(1.0);
    weights_between.push_back(decay.weight);
  }
  for (std::size_t j = 0; j < on_stage.size(); ++j) weights[j] = on_stage[j].weight;
  return Modes(bases, {drives}, {weights, weights_between});
}

}  // namespace

SteppedMemory::SteppedMemory(const LineKernel& kernel, double stiffness)
    : stiffness_(stiffness),
      recent_(kernel.on_stage.first.size() - 1),
      first_(kernel.on_stage.first),
      first_between_(kernel.between_steps.first),
      modes_(modes_of(kernel)) {}

void SteppedMemory::commit(Axis& axis, double displacement) const {
  double leaving = displacement;
  if (recent_ > 0) {
    leaving = axis.recent.back();
    std::copy_backward(axis.recent.begin(), axis.recent.end() - 1, axis.recent.end());
    axis.recent.front() = displacement;
  }
  const double decayed = modes_.advance(axis.real.data(), axis.imaginary.data(), leaving);
  axis.tails[0] = -stiffness_ * (sum_of_recent(first_, axis) + decayed);
}

double SteppedMemory::between_steps(const Axis& axis) const {
  const double decayed = modes_.read(axis.real.data(), axis.imaginary.data(), 1);
  return -stiffness_ * (sum_of_recent(first_between_, axis) + decayed);
}

double SteppedMemory::sum_of_recent(const std::vector<double>& kernel, const Axis& axis) const {
  double sum = 0.0;
  for (std::size_t n = 1; n <= recent_; ++n) sum += kernel[n] * axis.recent[n - 1];
  return sum;
}

}  // namespace bathline
