// The kernel of a composition and its state at work on one axis after the other.
#pragma once

#include "model/semi_infinite_line/kick_convolution.hpp"
#include "model/semi_infinite_line/exponential_modes.hpp"
#include "model/semi_infinite_line/multistage_kernel.hpp"

namespace bathline {

/// The force of a line under the kicks of a composition. What is recent are rows of all drifts of a step, the first of
/// the step under way; there is a tail for every kick.
class MultistageConvolution final : public KickConvolution {
 public:
  MultistageConvolution(const KickDriftSequence& turns, const MultistageKernel& kernel, double stiffness);

  ConvolutionShape shape() const override {
    return {.next_outputs = stages_, .input_history = first_.size() * stages_, .modes = modes_.size()};
  }
  void commit(ConvolutionState& state, int stage, double displacement) const override;

 private:
  void end_step(ConvolutionState& state) const;

  std::size_t stages_;
  std::vector<std::vector<double>> first_;  // forces by lag, then kick, then drift
  ExponentialModes modes_;
};

}  // namespace bathline
