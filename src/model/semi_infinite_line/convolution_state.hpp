// The state of a sum of exponentials on one axis: of a line's memory, or of a filter.
#pragma once

#include <string>
#include <vector>

#include "simd/aligned_vector.hpp"

namespace bathline {

struct StateField;

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

}  // namespace bathline
