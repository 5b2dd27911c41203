// A kernel over steps and its state at work on one axis after the other.
#pragma once

#include <vector>

#include "model/infinite/certificate.hpp"
#include "model/infinite/modes.hpp"
#include "parallel/cache_lines.hpp"

namespace bathline {

/// What a kernel over steps remembers of what goes into it on one axis.
struct MemoryState {
  std::vector<double> tails;   ///< what comes out in the next step, or the next stages, where nothing goes in
  std::vector<double> recent;  ///< what went in, the latest first
  AlignedVector real, imaginary;
};
/// How many numbers that takes.
struct MemoryShape {
  std::size_t tails = 0, recent = 0, modes = 0;
  bool operator==(const MemoryShape&) const = default;
  void give(MemoryState& state) const;
};

/// The force of a line under kicks that are a step apart, or under a stage of the gamma family: -lambda sum K_n
/// D^{k-n}.
class SteppedMemory {
 public:
  explicit SteppedMemory(const LineKernel& kernel, double stiffness);

  MemoryShape shape() const { return {.tails = 1, .recent = recent_, .modes = modes_.size()}; }
  /// What a displacement of now adds to the force, per length, negative.
  double at_once() const { return -stiffness_ * first_[0]; }
  /// The head has moved by `displacement` in this step.
  void commit(MemoryState& state, double displacement) const;
  /// Finds the tail of a state that was written from outside.
  void recall(MemoryState& state) const;
  /// Force of the spring between two steps, of a kernel for stages.
  double between_steps(const MemoryState& state) const;

 private:
  double sum_of_recent(const std::vector<double>& kernel, const MemoryState& state) const;

  double stiffness_;
  std::size_t recent_;
  std::vector<double> first_, first_between_;
  Modes modes_;
};

}  // namespace bathline
