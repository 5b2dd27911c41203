// Interface of convolutions for alternating kicks and drifts.
#pragma once

#include <string>
#include <vector>

#include "simd/aligned_vector.hpp"

namespace bathline {

struct StateField;

/// The state of a convolution on one axis.
struct ConvolutionState {
  std::vector<double> next_outputs;  ///< output of the next step, or of the next stages, without further inputs
  AlignedVector pending;  ///< for exponentials in blocks: partial outputs of the steps, from the start of the block on
  std::vector<double> input_history;  ///< recent inputs, the latest first
  AlignedVector real, imaginary;
  double block_position = 0.0;  ///< completed steps of the current block, an integer
};
/// The sizes of a state.
struct ConvolutionShape {
  std::size_t next_outputs = 0, pending = 0, input_history = 0, modes = 0;
  bool operator==(const ConvolutionShape&) const = default;
  void allocate(ConvolutionState& state) const;
  /// Adds the fields of the state on an axis, with `prefix` before each name; nullptr if another rank has the state.
  void add_fields(const std::string& prefix, int axis, ConvolutionState* state, std::vector<StateField>& fields) const;
};

/// The force of a line at one or more kicks a step, each after a drift.
class KickConvolution {
 public:
  virtual ~KickConvolution() = default;
  int stages() const { return stages_; }
  /// The first drift of a step, in steps.
  double first_drift() const { return first_drift_; }
  /// Derivative of the force with respect to the current displacement, N/m; negative.
  double feedthrough() const { return feedthrough_; }
  virtual ConvolutionShape shape() const = 0;
  /// The head has moved by `displacement` in the drift before kick number `stage`.
  virtual void commit(ConvolutionState& state, int stage, double displacement) const = 0;

 protected:
  KickConvolution(int stages, double first_drift, double feedthrough)
      : stages_(stages), first_drift_(first_drift), feedthrough_(feedthrough) {}

 private:
  int stages_;
  double first_drift_, feedthrough_;
};

}  // namespace bathline
