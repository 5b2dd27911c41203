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

void MemoryShape::give(MemoryState& state) const {
  state.tails.resize(tails);
  state.recent.resize(recent);
  state.real.resize(modes);
  state.imaginary.resize(modes);
}

SteppedMemory::SteppedMemory(const LineKernel& kernel, double stiffness)
    : KickMemory(1, 1.0, -stiffness * kernel.on_stage.first.front()),
      stiffness_(stiffness),
      recent_(kernel.on_stage.first.size() - 1),
      first_(kernel.on_stage.first),
      first_between_(kernel.between_steps.first),
      modes_(modes_of(kernel)) {}

void SteppedMemory::commit(MemoryState& state, double displacement) const {
  double leaving = displacement;
  if (recent_ > 0) {
    leaving = state.recent.back();
    std::copy_backward(state.recent.begin(), state.recent.end() - 1, state.recent.end());
    state.recent.front() = displacement;
  }
  const double decayed = modes_.advance(state.real.data(), state.imaginary.data(), leaving);
  state.tails[0] = -stiffness_ * (sum_of_recent(first_, state) + decayed);
}

void SteppedMemory::begin_after(MemoryState& state, double latest, double ratio) const {
  double moved = latest;
  for (double& one : state.recent) {
    one = moved;
    moved *= ratio;
  }
  modes_.settle(state.real.data(), state.imaginary.data(), moved, ratio);
  recall(state);
}

void SteppedMemory::recall(MemoryState& state) const {
  const double decayed = modes_.read(state.real.data(), state.imaginary.data(), 0);
  state.tails[0] = -stiffness_ * (sum_of_recent(first_, state) + decayed);
}

double SteppedMemory::between_steps(const MemoryState& state) const {
  const double decayed = modes_.read(state.real.data(), state.imaginary.data(), 1);
  return -stiffness_ * (sum_of_recent(first_between_, state) + decayed);
}

double SteppedMemory::sum_of_recent(const std::vector<double>& kernel, const MemoryState& state) const {
  double sum = 0.0;
  for (std::size_t n = 1; n <= recent_; ++n) sum += kernel[n] * state.recent[n - 1];
  return sum;
}

}  // namespace bathline
