// A block fills the first m places of what is recent from the last of them to the first.
// Tested by tests/model/infinite/stepped_memory_test.cpp and infinite_line_test.cpp.
#include "model/infinite/stepped_memory.hpp"

#include <algorithm>

#include "model/environment.hpp"
#include "parallel/lanes.hpp"

namespace bathline {

namespace {

/// The modes give forces.
BlockedModes modes_of(const LineKernel& kernel, double stiffness) {
  // Modes that only one of the two kernels has weigh nothing in the other.
  const std::vector<Decay>& on_stage = kernel.on_stage.decays;
  const std::vector<Decay>& between = kernel.between_steps.decays.empty() ? on_stage : kernel.between_steps.decays;
  BlockedModes::Row bases, weights(between.size()), weights_between;
  for (const Decay& decay : between) {
    bases.push_back(std::exp(decay.exponent()));
    weights_between.push_back(-stiffness * decay.weight);
  }
  for (std::size_t j = 0; j < on_stage.size(); ++j) weights[j] = -stiffness * on_stage[j].weight;
  return BlockedModes(bases, weights, weights_between);
}

std::vector<double> forces_of(const std::vector<double>& kernel, double stiffness) {
  std::vector<double> forces;
  for (const double value : kernel) forces.push_back(-stiffness * value);
  return forces;
}

}  // namespace

void MemoryShape::give(MemoryState& state) const {
  state.tails.resize(tails);
  state.due.resize(due);
  state.recent.resize(recent);
  state.real.resize(modes);
  state.imaginary.resize(modes);
}

void MemoryShape::add_fields(const std::string& prefix, int axis, MemoryState* state,
                             std::vector<StateField>& fields) const {
  MemoryState elsewhere;
  MemoryState& of = state == nullptr ? elsewhere : *state;
  const auto add = [&](const char* name, std::span<double> values, std::size_t total) {
    fields.push_back({prefix + name, axis, 0, static_cast<std::int64_t>(total), values});
  };
  fields.push_back(
      {prefix + "taken", axis, 0, 1, {state == nullptr ? nullptr : &of.taken, state == nullptr ? 0u : 1u}});
  add("tails", of.tails, tails);
  add("due", of.due, due);
  add("recent", of.recent, recent);
  add("real", of.real, modes);
  add("imaginary", of.imaginary, modes);
}

SteppedMemory::SteppedMemory(const LineKernel& kernel, double stiffness)
    : KickMemory(1, 1.0, -stiffness * kernel.on_stage.first.front()),
      stiffness_(stiffness),
      lags_(kernel.on_stage.first.size() - 1),
      slots_(reach(0)),
      first_(forces_of(kernel.on_stage.first, stiffness)),
      first_between_(forces_of(kernel.between_steps.first, stiffness)),
      modes_(modes_of(kernel, stiffness)) {
  for (std::size_t n = 0; n + 1 < 2 * block; ++n) first_.push_back(modes_.kernel(n));
  shares_.resize(block * slots_);
  for (std::size_t step = 0; step < block; ++step) {
    const std::size_t end = reach(block - 1 - step);
    for (std::size_t slot = step + 1; slot < end; ++slot) shares_[step * slots_ + slot] = first_[slot - step];
  }
}

std::size_t SteppedMemory::reach(std::size_t place) const {
  return (block - 1 + lags_ - place) / block * block + 2 * block;
}

void SteppedMemory::commit(MemoryState& state, double displacement) const {
  const auto step = static_cast<std::size_t>(state.taken);
  const double* share = &shares_[step * slots_];
  double* due = state.due.data();
  state.recent[block - 1 - step] = displacement;
  if (step + 1 == block) return pass(state);
  // First, and by itself: it is what the next step waits for.
  state.tails[0] = fused(share[step + 1], displacement, due[step + 1]);
  state.taken += 1.0;
  for (std::size_t slot = 0; slot < block; slot += lanes) {
    store(fused(load(share + slot), everywhere(displacement), load(due + slot)), due + slot);
  }
}

void SteppedMemory::pass(MemoryState& state) const {
  double* due = state.due.data();
  for (std::size_t slot = block; slot < slots_; slot += lanes) {
    Lanes sum = load(due + slot);
    for (std::size_t step = 0; step < block; ++step) {
      sum = fused(load(&shares_[step * slots_ + slot]), everywhere(state.recent[block - 1 - step]), sum);
    }
    store(sum, due + slot - block);
  }
  std::fill(state.due.end() - block, state.due.end(), 0.0);
  modes_.advance(state.real.data(), state.imaginary.data(), &state.recent[lags_], due);
  std::copy_backward(state.recent.begin(), state.recent.end() - block, state.recent.end());
  state.taken = 0.0;
  state.tails[0] = due[0];
}

void SteppedMemory::begin_after(MemoryState& state, double latest, double ratio) const {
  double moved = latest;
  for (double& one : last_inputs(state)) {
    one = moved;
    moved *= ratio;
  }
  modes_.settle(state.real.data(), state.imaginary.data(), moved, ratio);
  recall(state);
}

void SteppedMemory::recall(MemoryState& state) const {
  std::fill(state.due.begin(), state.due.end(), 0.0);
  modes_.forecast(state.real.data(), state.imaginary.data(), state.due.data());
  for (std::size_t place = block; place < state.recent.size(); ++place) {
    for (std::size_t slot = 0; slot < reach(place); ++slot) {
      state.due[slot] += first_[slot + 1 + place - block] * state.recent[place];
    }
  }
  state.taken = 0.0;
  state.tails[0] = state.due[0];
}

double SteppedMemory::between_steps(const MemoryState& state) const {
  const auto taken = static_cast<std::size_t>(state.taken);
  const std::span<const double> latest = std::span(state.recent).subspan(block - taken);
  double sum = modes_.read_other(state.real.data(), state.imaginary.data(), latest.subspan(lags_, taken));
  for (std::size_t n = 1; n <= lags_; ++n) sum += first_between_[n] * latest[n - 1];
  return sum;
}

}  // namespace bathline
