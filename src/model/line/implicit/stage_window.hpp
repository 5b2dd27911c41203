// A piece of a uniform line that is taken through steps with several stages on its own, for one axis: at the head in
// lockstep with the particles, at the far end with what closes the line there.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/line/implicit/stage_step.hpp"
#include "parallel/communicator.hpp"
#include "solve/stage_tridiagonal.hpp"

namespace bathline {

/// Scratch copy of consecutive sites. An end of it is the head, the far end of the line, or a cut, where it goes on
/// like its last site: it is up to the caller to load as many sites beyond those wanted as the steps reach.
class LineStageWindow {
 public:
  enum class Place { head, far_end, whole };
  /// Of `count` sites; `alone` is a group of this rank only.
  LineStageWindow(const LineStageStep& step, Place place, std::int64_t count, const Communicator& alone);

  /// `dissipated` is what the dashpot of the far end has taken until now, in J.
  void load(const double* w, const double* p, std::int64_t count, double dissipated);
  /// First half of a step with the head at `head`: the force on it at the stages is the value returned - damping()
  /// times its stage velocities.
  Eigen::VectorXd eliminate(double head);
  const Eigen::MatrixXd& damping() const { return damping_; }
  /// Second half.
  void complete(const Eigen::VectorXd& head_velocities);
  /// A step of a piece that does not meet the head.
  void step();
  /// Writes `count` sites from `offset` on.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const;
  double dissipated() const { return dissipated_; }

 private:
  bool at_far_end() const { return place_ != Place::head; }
  double last() const { return w_.back(); }
  /// The displacement behind the last site.
  double behind() const { return at_far_end() && step_.line.far_end == FarEnd::fixed ? 0.0 : last(); }
  StageRelation begin(double before);
  /// `momenta_before` are the stage momenta of what is before the first site.
  void substitute(const Eigen::VectorXd& momenta_before);
  /// `before` is the mean stage displacement there.
  void end(double before);

  LineStageStep step_;
  Place place_;
  std::unique_ptr<StageSolver> solver_;
  std::vector<double> w_, p_, stage_;
  Eigen::MatrixXd damping_;  // once a step has begun
  double head_ = 0.0;        // at the start of the step
  double dissipated_ = 0.0;
};

}  // namespace bathline
