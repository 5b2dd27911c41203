// A piece of a uniform line that is taken through implicit steps on its own, for one axis: at the head in lockstep with
// the particles, at the far end with what closes the line there.
//
// The piece is eliminated from its last site towards its first, see solve/block_thomas.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/line/implicit/step.hpp"
#include "solve/block_thomas.hpp"

namespace bathline {

/// Scratch copy of consecutive sites. An end of it is the head, the far end of the line, or a cut, where it goes on
/// like its last site: it is up to the caller to load as many sites beyond those wanted as the steps reach.
template <int S>
class LineImplicitSegment {
 public:
  enum class Place { head, far_end, whole };
  using Step = LineStep<UniformSites, S>;
  using Block = typename Step::Block;
  using Value = typename Step::Value;

  LineImplicitSegment(const Step& step, Place place, std::int64_t count)
      : step_(step),
        at_far_end_(place != Place::head),
        elimination_(step.matrix(!at_far_end_).coupling, step.matrix(!at_far_end_).last, count),
        count_(count),
        w_(static_cast<std::size_t>(count)),
        p_(w_.size()),
        stage_(Step::in_place ? 0 : w_.size() * S) {}

  /// `dissipated` is what the dashpot of the far end has taken until now, in J.
  void load(const double* w, const double* p, double dissipated) {
    dissipated_ = dissipated;
    std::copy_n(w, count_, w_.begin());
    std::copy_n(p, count_, p_.begin());
  }
  /// First half of a step with the head at `head`: the force on it at the stages is the value returned - damping()
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
  /// A step of a piece that does not meet the head.
  void step() {
    // A site before the first that moves with it does not pull.
    const Block pulls = Block::Identity() - elimination_.slope(count_);
    const Value first = pulls.inverse() * begin(w_[0]);
    elimination_.substitute(stage(), count_, first);
    end(step_.mean(0, w_[0], first));
  }
  /// Writes `count` sites from `offset` on.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
    std::copy_n(w_.begin() + offset, count, w);
    std::copy_n(p_.begin() + offset, count, p);
  }
  double dissipated() const { return dissipated_; }

 private:
  double* stage() { return Step::in_place ? p_.data() : stage_.data(); }
  /// The displacement behind the last site, or the mean stage displacement, where its own is `here`.
  double behind(double here) const { return at_far_end_ ? step_.behind(here) : here; }
  /// What the first site gets that does not come from the one before it, which is at `before`.
  Value begin(double before) {
    step_.begin(w_.data(), p_.data(), stage(), count_, before, behind(w_.back()));
    return elimination_.eliminate(stage(), count_);
  }
  /// `before` is the mean stage displacement of what is before the first site.
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
