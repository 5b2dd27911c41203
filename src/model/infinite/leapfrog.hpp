// Kicks a step apart on a line without end, for the schemes that come to that.
#pragma once

#include <memory>

#include "model/infinite/infinite_line.hpp"

namespace bathline {

class Leapfrog {
 public:
  using Axis = InfiniteLine::Axis;

  Leapfrog(InfiniteLine& line, double h);

  double at_once() const { return memory_->at_once(); }
  /// A head that does not begin where the line is at rest: the share of its displacement that comes before the first
  /// kick is that of the kick.
  void start(Axis& axis, double x, double share) const;
  double force_at_kick(const Axis& axis, double x) const;
  /// `random` is the force of the noise in this kick.
  void kick(Axis& axis, double x, double random) const;

 private:
  static std::shared_ptr<const SteppedMemory> make_memory(InfiniteLine& line, double h);

  std::shared_ptr<const SteppedMemory> memory_;
};

}  // namespace bathline
