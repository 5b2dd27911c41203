// A piece of a uniform line that is taken through implicit one-stage steps on its own, for one axis: at the head in
// lockstep with the particles, at the far end with what closes the line there.
#pragma once

#include <cstdint>
#include <vector>

#include "model/line/implicit/implicit_stage.hpp"
#include "solve/line_elimination.hpp"

namespace bathline {

/// Scratch copy of consecutive sites. An end of it is the head, the far end of the line, or a cut, where it goes on
/// like its last site: it is up to the caller to load as many sites beyond those wanted as the steps reach.
class LineImplicitWindow {
 public:
  enum class Place { head, far_end, whole };
  LineImplicitWindow(const ImplicitStage& stage, Place place, std::int64_t capacity);

  /// `dissipated` is what the dashpot of the far end has taken until now, in J.
  void load(const double* w, const double* p, std::int64_t count, double dissipated);
  /// First half of a step with the head at `head`: the force on it is the value returned - damping() times its stage
  /// velocity.
  double eliminate(double head);
  double damping() const;
  /// Second half.
  void complete(double head_velocity);
  /// A step of a piece that does not meet the head.
  void step();
  /// Writes `count` sites from `offset` on.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const;
  double dissipated() const { return dissipated_; }

 private:
  bool at_far_end() const { return place_ != Place::head; }
  /// The displacement behind the last site, whose own is `here`.
  double behind(double here) const { return at_far_end() && stage_.line.far_end == FarEnd::fixed ? 0.0 : here; }
  /// `momentum_before` is the stage momentum of what is before the first site, `stage_before` its stage displacement.
  void end_step(double momentum_before, double stage_before);

  ImplicitStage stage_;
  Place place_;
  LineElimination elimination_;
  std::vector<double> w_, p_;
  std::int64_t count_ = 0;
  double head_ = 0.0;  // at the start of the step
  double dissipated_ = 0.0;
};

}  // namespace bathline
