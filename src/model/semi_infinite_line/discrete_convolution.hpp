// A kernel over steps and its state at work on one axis after the other.
//
// Of F^k = -lambda sum_n K_n D^{k-n} the first r lags go directly and those behind them by exponentials, of which a
// pass at the end of every block of m steps takes care: D goes into them r steps after it has come, with the pass at
// the end of that block, and what they give of it shows from the end of the next block on. Until then it is added
// directly, with whatever lag, to sums of what is due in each step: when it comes to those of the block under way, with
// the pass to those behind it.
#pragma once

#include <vector>

#include "model/semi_infinite_line/blocked_exponential_modes.hpp"
#include "model/semi_infinite_line/certificate.hpp"
#include "model/semi_infinite_line/kick_convolution.hpp"

namespace bathline {

/// The force of a line under kicks that are a step apart, or under a stage of the gamma family: -lambda sum K_n
/// D^{k-n}.
class DiscreteConvolution final : public KickConvolution {
 public:
  explicit DiscreteConvolution(const LineKernel& kernel, double stiffness);

  ConvolutionShape shape() const override {
    return {.next_outputs = 1, .pending = slots_, .input_history = block + lags_, .modes = modes_.size()};
  }
  /// Force on the head of the spring alone, longer by `displacement`.
  double spring(double displacement) const { return -stiffness_ * displacement; }
  /// How many lags go directly, r.
  std::size_t lags() const { return lags_; }
  /// The head has moved by `displacement` in this step.
  void commit(ConvolutionState& state, double displacement) const;
  void commit(ConvolutionState& state, int, double displacement) const override { commit(state, displacement); }
  /// The head has moved by latest ratio^(n-1) in the n-th step before the start, for all n; |ratio| <= 1.
  void set_geometric_history(ConvolutionState& state, double latest, double ratio) const;
  /// What went in last, that the exponentials do not know of, where a block begins: the latest first.
  std::span<double> last_inputs(ConvolutionState& state) const {
    return std::span(state.input_history).subspan(block, lags_);
  }
  /// Begins a block with last inputs and exponentials that were written from outside.
  void rebuild_pending(ConvolutionState& state) const;
  /// Force of the spring between two steps, of a kernel for stages.
  double between_steps(const ConvolutionState& state) const;

 private:
  static constexpr std::size_t block = BlockedExponentialModes::steps;

  /// Until which of the sums, from the begin of the block on, an input at this place of those that are recent is added
  /// directly: the end of the block behind that with whose pass the exponentials take it.
  std::size_t reach(std::size_t place) const;
  /// The block is over: the exponentials take it.
  void pass(ConvolutionState& state) const;

  double stiffness_;
  std::size_t lags_, slots_;
  std::vector<double> first_, first_between_;  // forces by lag, the former with all lags that are ever added directly
  BlockedExponentialModes modes_;
  AlignedVector shares_;  // of an input in the sums, by the step of the block
};

}  // namespace bathline
