// What kicks and drifts by turns need of a line's memory.
#pragma once

#include <string>
#include <vector>

#include "simd/aligned_vector.hpp"

namespace bathline {

struct StateField;

/// What a kernel over steps remembers of what goes into it on one axis.
struct ConvolutionState {
  std::vector<double> next_outputs;  ///< what comes out in the next step, or the next stages, where nothing goes in
  AlignedVector pending;  ///< for exponentials in blocks: what is known of the tail of each step, from its begin on
  std::vector<double> input_history;  ///< what went in, the latest first
  AlignedVector real, imaginary;
  double block_position = 0.0;  ///< steps of the block under way, a whole number
};
/// How many numbers that takes.
struct ConvolutionShape {
  std::size_t next_outputs = 0, pending = 0, input_history = 0, modes = 0;
  bool operator==(const ConvolutionShape&) const = default;
  void allocate(ConvolutionState& state) const;
  /// The state on an axis, each name behind `prefix`; nullptr where it is another rank's.
  void add_fields(const std::string& prefix, int axis, ConvolutionState* state, std::vector<StateField>& fields) const;
};

/// The force of a line under one or more kicks a step, each behind a drift.
class KickConvolution {
 public:
  virtual ~KickConvolution() = default;
  int stages() const { return stages_; }
  /// The first drift of a step, in steps.
  double first_drift() const { return first_drift_; }
  /// What a displacement of now adds to the force, per length, negative.
  double feedthrough() const { return feedthrough_; }
  virtual ConvolutionShape shape() const = 0;
  /// The head has moved by `displacement` in the drift before the kick of that number, which comes now.
  virtual void commit(ConvolutionState& state, int stage, double displacement) const = 0;

 protected:
  KickConvolution(int stages, double first_drift, double feedthrough)
      : stages_(stages), first_drift_(first_drift), feedthrough_(feedthrough) {}

 private:
  int stages_;
  double first_drift_, feedthrough_;
};

}  // namespace bathline
