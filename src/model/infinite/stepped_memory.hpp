// A kernel over steps and its state at work on one axis after the other.
#pragma once

#include <memory>

#include "model/infinite/infinite_line.hpp"
#include "model/infinite/modes.hpp"

namespace bathline {

/// The force of a line under kicks that are a step apart, or under a stage of the gamma family: -lambda sum K_n
/// D^{k-n}.
class SteppedMemory {
 public:
  using Axis = InfiniteLine::Axis;

  explicit SteppedMemory(const LineKernel& kernel, double stiffness);

  InfiniteLine::Shape shape() const { return {.tails = 1, .recent = recent_, .modes = modes_.size()}; }
  /// What a displacement of now adds to the force, per length, negative.
  double at_once() const { return -stiffness_ * first_[0]; }
  /// The head has moved by `displacement` in this step.
  void commit(Axis& axis, double displacement) const;
  /// Force of the spring between two steps, of a kernel for stages.
  double between_steps(const Axis& axis) const;

 private:
  double sum_of_recent(const std::vector<double>& kernel, const Axis& axis) const;

  double stiffness_;
  std::size_t recent_;
  std::vector<double> first_, first_between_;
  Modes modes_;
};

}  // namespace bathline
