// The kernel of a composition and its state at work on one axis after the other.
#pragma once

#include "model/infinite/kick_memory.hpp"
#include "model/infinite/modes.hpp"
#include "model/infinite/staged_kernel.hpp"

namespace bathline {

/// The force of a line under the kicks of a composition. What is recent are rows of all drifts of a step, the first of
/// the step under way; there is a tail for every kick.
class StagedMemory final : public KickMemory {
 public:
  StagedMemory(const Turns& turns, const StagedKernel& kernel, double stiffness);

  MemoryShape shape() const override {
    return {.tails = stages_, .recent = first_.size() * stages_, .modes = modes_.size()};
  }
  void commit(MemoryState& state, int stage, double displacement) const override;

 private:
  void end_step(MemoryState& state) const;

  std::size_t stages_;
  std::vector<std::vector<double>> first_;  // forces by lag, then kick, then drift
  Modes modes_;
};

}  // namespace bathline
