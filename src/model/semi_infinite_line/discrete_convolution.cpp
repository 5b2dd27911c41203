// The inputs of a block fill the first m entries of `input_history`, from the last of these to the first.
// Tested by tests/model/semi_infinite_line/discrete_convolution_test.cpp and
// semi_infinite_line_test.cpp.
#include "model/semi_infinite_line/discrete_convolution.hpp"

#include <algorithm>

#include "simd/simd_double.hpp"

namespace bathline {

namespace {

/// Modes whose outputs are forces.
BlockedExponentialModes modes_of(const LineKernel& kernel, double stiffness) {
  // Modes that only one of the two kernels has get the weight 0 in the other.
  const std::vector<ExponentialTerm>& on_stage = kernel.on_stage.exponential_terms;
  const std::vector<ExponentialTerm>& between =
      kernel.between_steps.exponential_terms.empty() ? on_stage : kernel.between_steps.exponential_terms;
  BlockedExponentialModes::Row bases, weights(between.size()), weights_between;
  for (const ExponentialTerm& term : between) {
    bases.push_back(std::exp(term.exponent()));
    weights_between.push_back(-stiffness * term.weight);
  }
  for (std::size_t j = 0; j < on_stage.size(); ++j) weights[j] = -stiffness * on_stage[j].weight;
  return BlockedExponentialModes(bases, weights, weights_between);
}

std::vector<double> forces_of(const std::vector<double>& kernel, double stiffness) {
  std::vector<double> forces;
  for (const double value : kernel) forces.push_back(-stiffness * value);
  return forces;
}

}  // namespace

DiscreteConvolution::DiscreteConvolution(const LineKernel& kernel, double stiffness)
    : stiffness_(stiffness),
      feedthrough_(-stiffness * kernel.on_stage.first.front()),
      lags_(kernel.on_stage.first.size() - 1),
      slots_(direct_end(0)),
      first_(forces_of(kernel.on_stage.first, stiffness)),
      first_between_(forces_of(kernel.between_steps.first, stiffness)),
      modes_(modes_of(kernel, stiffness)) {
  for (std::size_t n = 0; n + 1 < 2 * block; ++n) first_.push_back(modes_.kernel(n));
  direct_weights_.resize(block * slots_);
  for (std::size_t step = 0; step < block; ++step) {
    const std::size_t end = direct_end(block - 1 - step);
    for (std::size_t slot = step + 1; slot < end; ++slot) direct_weights_[step * slots_ + slot] = first_[slot - step];
  }
}

std::size_t DiscreteConvolution::direct_end(std::size_t index) const {
  return (block - 1 + lags_ - index) / block * block + 2 * block;
}

void DiscreteConvolution::commit(ConvolutionState& state, double displacement) const {
  const auto step = static_cast<std::size_t>(state.block_position);
  const double* direct_weight = &direct_weights_[step * slots_];
  double* pending = state.pending.data();
  state.input_history[block - 1 - step] = displacement;
  if (step + 1 == block) return end_block(state);
  // First and separately, as the next step depends on it.
  state.next_outputs[0] = multiply_add(direct_weight[step + 1], displacement, pending[step + 1]);
  state.block_position += 1.0;
  for (std::size_t slot = 0; slot < block; slot += simd_width) {
    store(multiply_add(load(direct_weight + slot), splat(displacement), load(pending + slot)), pending + slot);
  }
}

void DiscreteConvolution::end_block(ConvolutionState& state) const {
  double* pending = state.pending.data();
  for (std::size_t slot = block; slot < slots_; slot += simd_width) {
    SimdDouble sum = load(pending + slot);
    for (std::size_t step = 0; step < block; ++step) {
      sum =
          multiply_add(load(&direct_weights_[step * slots_ + slot]), splat(state.input_history[block - 1 - step]), sum);
    }
    store(sum, pending + slot - block);
  }
  std::fill(state.pending.end() - block, state.pending.end(), 0.0);
  modes_.advance(state.real.data(), state.imaginary.data(), &state.input_history[lags_], pending);
  std::copy_backward(state.input_history.begin(), state.input_history.end() - block, state.input_history.end());
  state.block_position = 0.0;
  state.next_outputs[0] = pending[0];
}

void DiscreteConvolution::set_geometric_history(ConvolutionState& state, double latest, double ratio) const {
  double displacement = latest;
  for (double& input : last_inputs(state)) {
    input = displacement;
    displacement *= ratio;
  }
  modes_.set_geometric_history(state.real.data(), state.imaginary.data(), displacement, ratio);
  rebuild_pending(state);
}

void DiscreteConvolution::rebuild_pending(ConvolutionState& state) const {
  std::fill(state.pending.begin(), state.pending.end(), 0.0);
  modes_.free_response(state.real.data(), state.imaginary.data(), state.pending.data());
  for (std::size_t index = block; index < state.input_history.size(); ++index) {
    for (std::size_t slot = 0; slot < direct_end(index); ++slot) {
      state.pending[slot] += first_[slot + 1 + index - block] * state.input_history[index];
    }
  }
  state.block_position = 0.0;
  state.next_outputs[0] = state.pending[0];
}

double DiscreteConvolution::between_steps(const ConvolutionState& state) const {
  const auto block_position = static_cast<std::size_t>(state.block_position);
  const std::span<const double> latest = std::span(state.input_history).subspan(block - block_position);
  double sum = modes_.read_other(state.real.data(), state.imaginary.data(), latest.subspan(lags_, block_position));
  for (std::size_t n = 1; n <= lags_; ++n) sum += first_between_[n] * latest[n - 1];
  return sum;
}

}  // namespace bathline
