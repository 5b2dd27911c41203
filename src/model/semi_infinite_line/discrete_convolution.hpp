// Discrete convolution with a kernel over steps, and its state on one axis.
//
// Of F^k = -lambda sum_n K_n D^{k-n} the first r lags are summed directly and the others by exponentials, which are
// advanced at the end of every block of m steps. An input D enters them r steps after it was given, with the advance at
// the end of that block, and their outputs contain it from the end of the next block on. Until then its contributions
// are added directly, for all lags, to the pending sums of later steps: to those of its own block when it is given, and
// to those behind that at the end of the block.
#pragma once

#include <vector>

#include "model/semi_infinite_line/blocked_exponential_modes.hpp"
#include "model/semi_infinite_line/certificate.hpp"
#include "model/semi_infinite_line/convolution_state.hpp"

namespace bathline {

/// The force of a line at kicks that are a step apart, or at the stage of a gamma scheme: -lambda sum K_n D^{k-n}.
class DiscreteConvolution {
 public:
  explicit DiscreteConvolution(const LineKernel& kernel, double stiffness);

  /// Derivative of the force with respect to the current displacement, N/m; negative.
  double feedthrough() const { return feedthrough_; }
  ConvolutionShape shape() const {
    return {.next_outputs = 1, .pending = slots_, .input_history = block + lags_, .modes = modes_.size()};
  }
  /// Force on the head of the first spring alone for a `displacement` of the head.
  double spring(double displacement) const { return -stiffness_ * displacement; }
  /// Number of lags that are summed directly, r.
  std::size_t lags() const { return lags_; }
  /// Ends a step in which the head has moved by `displacement`.
  void commit(ConvolutionState& state, double displacement) const;
  /// Sets the state of a head that has moved by latest ratio^(n-1) in the n-th step before the start, for all n >= 1;
  /// |ratio| <= 1.
  void set_geometric_history(ConvolutionState& state, double latest, double ratio) const;
  /// At the start of a block, the inputs that the exponentials do not contain yet, the latest first.
  std::span<double> last_inputs(ConvolutionState& state) const {
    return std::span(state.input_history).subspan(block, lags_);
  }
  /// Starts a block after last inputs and exponentials have been set from outside.
  void rebuild_pending(ConvolutionState& state) const;
  /// Force of the spring between two steps, for a gamma scheme.
  double between_steps(const ConvolutionState& state) const;

 private:
  static constexpr std::size_t block = BlockedExponentialModes::steps;

  /// Number of pending sums, counted from the start of the block, to which the input at `index` of the history is added
  /// directly: up to the end of the block after the one whose end enters it into the exponentials.
  std::size_t direct_end(std::size_t index) const;
  /// Advances the exponentials at the end of a block.
  void end_block(ConvolutionState& state) const;

  double stiffness_, feedthrough_;
  std::size_t lags_, slots_;
  std::vector<double> first_, first_between_;  // forces by lag, the former for all lags that are added directly
  BlockedExponentialModes modes_;
  AlignedVector direct_weights_;  // of an input in the pending sums, by its step of the block
};

}  // namespace bathline
