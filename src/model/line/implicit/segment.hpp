// Implicit steps of a piece of a uniform line, for one axis: at the head in lockstep with the particles, at the far end
// with its boundary condition.
//
// The piece is eliminated from its last site to its first one, see solve/block_thomas.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/line/implicit/step.hpp"
#include "solve/block_thomas.hpp"

namespace bathline {

/// A scratch copy of consecutive sites. An end of it is the head, the far end of the line, or a cut, where no spring
/// follows: the caller has to load as many additional sites there as the steps reach.
template <int S>
class LineImplicitSegment {
 public:
  enum class Position { head, far_end, whole };
  using Step = LineStep<UniformSites, S>;
  using Block = typename Step::Block;
  using Value = typename Step::Value;

  LineImplicitSegment(const Step& step, Position position, std::int64_t count)
      : step_(step),
        at_far_end_(position != Position::head),
        elimination_(step.matrix(!at_far_end_).coupling, step.matrix(!at_far_end_).last, count),
        count_(count),
        w_(static_cast<std::size_t>(count)),
        p_(w_.size()),
        stage_(Step::in_place ? 0 : w_.size() * S) {}

  /// `dissipated` is the energy dissipated by the dashpot of the far end before, J.
  void load(const double* w, const double* p, double dissipated) {
    dissipated_ = dissipated;
    std::copy_n(w, count_, w_.begin());
    std::copy_n(p, count_, p_.begin());
  }
  /// First half of a step with the head at `head`: the force on it at the stages is the returned value - damping()
  /// times its stage velocities.
  Value eliminate(double head) {
    head_ = head;
    const double stretch = w_[0] - head;
    return step_.force(begin(head), stretch);
  }
  Block damping() const { return step_.damping(elimination_.slope(count_)); }
  /// Second half.
  void back_substitute(const Value& head_velocities) {
    elimination_.substitute(stage(), count_, step_.solved_mass() * head_velocities);
    end(step_.mean_of_head(head_, head_velocities));
  }
  /// A step of a piece that does not begin at the head.
  void step() {
    // A cut: the site before the first one moves with it, so that their spring is unstretched.
    const Block pulls = Block::Identity() - elimination_.slope(count_);
    const Value first = pulls.inverse() * begin(w_[0]);
    elimination_.substitute(stage(), count_, first);
    end(step_.mean(0, w_[0], first));
  }
  /// Writes `count` sites, beginning with site `offset`.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
    std::copy_n(w_.begin() + offset, count, w);
    std::copy_n(p_.begin() + offset, count, p);
  }
  double dissipated() const { return dissipated_; }
  /// Displacement of the first site, between two steps.
  double first_w() const { return w_.front(); }

 private:
  double* stage() { return Step::in_place ? p_.data() : stage_.data(); }
  /// Displacement, or mean stage displacement, behind the last site, whose own is `here`.
  double behind(double here) const { return at_far_end_ ? step_.behind(here) : here; }
  /// The solution at the first site for a site before it at `before` with velocity 0.
  Value begin(double before) {
    step_.begin(w_.data(), p_.data(), stage(), count_, before, behind(w_.back()));
    return elimination_.eliminate(stage(), count_);
  }
  /// `before` is the mean stage displacement of the site before the first one, or of the head.
  void end(double before) {
    const double last = step_.mean(count_ - 1, w_.back(), Step::momenta(stage(), count_ - 1));
    dissipated_ += step_.end(w_.data(), p_.data(), stage(), count_, before, behind(last), at_far_end_);
  }

  Step step_;
  bool at_far_end_;
  BlockThomas<S> elimination_;
  std::int64_t count_;
  std::vector<double> w_, p_, stage_;
  double head_ = 0.0;  // at the start of the step
  double dissipated_ = 0.0;
};

}  // namespace bathline
