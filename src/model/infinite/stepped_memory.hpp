// A kernel over steps and its state at work on one axis after the other.
#pragma once

#include <vector>

#include "model/infinite/certificate.hpp"
#include "model/infinite/kick_memory.hpp"
#include "model/infinite/modes.hpp"

namespace bathline {

/// The force of a line under kicks that are a step apart, or under a stage of the gamma family: -lambda sum K_n
/// D^{k-n}.
class SteppedMemory final : public KickMemory {
 public:
  explicit SteppedMemory(const LineKernel& kernel, double stiffness);

  MemoryShape shape() const override { return {.tails = 1, .recent = recent_, .modes = modes_.size()}; }
  /// Force on the head of the spring alone, longer by `displacement`.
  double spring(double displacement) const { return -stiffness_ * displacement; }
  /// The head has moved by `displacement` in this step.
  void commit(MemoryState& state, double displacement) const;
  void commit(MemoryState& state, int, double displacement) const override { commit(state, displacement); }
  /// The head has moved by latest ratio^(n-1) in the n-th step before the start, for all n; |ratio| <= 1.
  void begin_after(MemoryState& state, double latest, double ratio) const;
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
