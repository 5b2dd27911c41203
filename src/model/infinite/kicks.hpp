// Kicks on a line without end, one or more a step, each behind a drift.
#pragma once

#include <memory>

#include "model/infinite/infinite_line.hpp"
#include "model/infinite/staged_kernel.hpp"

namespace bathline {

class Kicks {
 public:
  using Axis = InfiniteLine::Axis;

  /// One kick a step.
  Kicks(InfiniteLine& line, double h);
  /// Those of a composition.
  Kicks(InfiniteLine& line, const Turns& turns, double h);

  int stages() const { return memory_->stages(); }

  double at_once() const { return memory_->at_once(); }
  /// A head that does not begin where the line is at rest: the share of its displacement that comes before the first
  /// kick is that of the kick.
  void start(Axis& axis, double x, double share) const;
  double force_at_kick(const Axis& axis, int stage, double x) const {
    return axis.tails[static_cast<std::size_t>(stage)] + memory_->at_once() * (x - axis.place + axis.carry);
  }
  /// `random` is the force of the noise in this kick.
  void kick(Axis& axis, int stage, double x, double random) const;

 private:
  void take(InfiniteLine& line, const KernelCertificate& certificate, double h,
            std::shared_ptr<const NoiseFilter> noise) const;

  std::shared_ptr<const KickMemory> memory_;
};

}  // namespace bathline
