// A piece of a line that is advanced by explicit schemes on its own, for one axis.
#pragma once

#include <cstdint>
#include <vector>

#include "integrate/scheme.hpp"
#include "model/line/sites.hpp"
#include "model/line/springs.hpp"

namespace bathline {

/// Scratch copy of consecutive sites. An end of it is the head (whose place is given at every substep), the far end of
/// the line, or a cut: next to a cut the values become stale by one site with every force, so that after some steps
/// only the inner sites are valid. It is up to the caller to load enough of them.
class LineWindow {
 public:
  /// `capacity` sites; `stages` is the number of Runge-Kutta stages, 0 for a splitting.
  LineWindow(const LineConstants& line, std::int64_t capacity, int stages);

  /// `springs` are those of the sites loaded and must outlive their use; `dissipated` is what the dashpot of the far
  /// end has taken until now.
  void load(const double* w, const double* p, std::int64_t count, const LineSprings& springs, bool at_head,
            bool at_far_end, double dissipated);
  /// One substep of step size h with the head at `head` (ignored where this window does not meet it).
  void substep(const Substep& substep, const ExplicitScheme& scheme, double h, double head);
  /// Writes `count` sites from `offset` on, which must still be valid.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const;
  /// Displacement of the first site as the force on the head sees it, inside a step.
  double first() const { return current_w()[1]; }
  /// Energy that the dashpot of the far end has taken: added up substep by substep, so that the length of the blocks
  /// changes no bit.
  double dissipated() const { return dissipated_; }

 private:
  void kick(double weighted_step, bool velocity_after, double head);
  void stage(int stage, const ExplicitScheme& scheme, double h, double head);
  void set_ghosts(std::vector<double>& w, double head) const;
  const std::vector<double>& current_w() const { return in_stages_ ? stage_w_ : w_; }

  LineConstants line_;
  LineSprings springs_;
  // Entry 0 and entry count + 1 are ghosts: the head, the far end's mirror or the cut.
  std::vector<double> w_, p_;
  std::vector<double> stage_w_, stage_p_;
  std::vector<std::vector<double>> velocities_, forces_;
  std::int64_t count_ = 0;
  bool at_head_ = false;
  bool at_far_end_ = false;
  bool in_stages_ = false;
  double dissipated_ = 0.0;
};

}  // namespace bathline
