// Convolution with the matrix kernel of a composition, and its state on one axis.
#pragma once

#include "model/semi_infinite_line/kick_convolution.hpp"
#include "model/semi_infinite_line/exponential_modes.hpp"
#include "model/semi_infinite_line/multistage_kernel.hpp"

namespace bathline {

/// The force of a line at the kicks of a composition. `input_history` has a row with the drifts of each step, the
/// current one first; `next_outputs` has an entry for every kick.
class MultistageConvolution final : public KickConvolution {
 public:
  MultistageConvolution(const KickDriftSequence& sequence, const MultistageKernel& kernel, double stiffness);

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
