// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include "model/semi_infinite_line/convolution_state.hpp"

#include "model/environment.hpp"

namespace bathline {

void ConvolutionShape::allocate(ConvolutionState& state) const {
  state.next_outputs.resize(next_outputs);
  state.pending.resize(pending);
  state.input_history.resize(input_history);
  state.real.resize(modes);
  state.imaginary.resize(modes);
}

void ConvolutionShape::add_fields(const std::string& prefix, int axis, ConvolutionState* state,
                                  std::vector<StateField>& fields) const {
  ConvolutionState elsewhere;
  ConvolutionState& target = state == nullptr ? elsewhere : *state;
  const auto add = [&](const char* name, std::span<double> values, std::size_t total) {
    fields.push_back({prefix + name, axis, 0, static_cast<std::int64_t>(total), values});
  };
  fields.push_back({prefix + "taken",
                    axis,
                    0,
                    1,
                    {state == nullptr ? nullptr : &target.block_position, state == nullptr ? 0u : 1u}});
  add("tails", target.next_outputs, next_outputs);
  add("due", target.pending, pending);
  add("recent", target.input_history, input_history);
  add("real", target.real, modes);
  add("imaginary", target.imaginary, modes);
}

}  // namespace bathline
