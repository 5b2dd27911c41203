// Consecutive sites of a line in plain loops, for one axis, with whatever they end at: the head, the far end, or a cut.
// Whoever wants to know what an explicit scheme does to a line should read this.
#pragma once

#include <cstdint>
#include <vector>

#include "methods/scheme.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// A scratch copy of the sites. Next to a cut its values become stale by one site with every force, so that after some
/// steps only the inner sites are valid: it is up to the caller to load enough of them.
template <Sites S>
class LineSegment {
 public:
  struct Source {
    const double* w;
    const double* p;
    std::int64_t count;
    S sites;  ///< the rows must outlive the steps
    bool at_head = false;
    bool at_far_end = false;
    double dissipated = 0.0;  ///< what the dashpot of the far end has taken until now, in J
  };

  /// `capacity` sites; `stages` is the number of Runge-Kutta stages, 0 for a splitting.
  LineSegment(const LineConstants& line, std::int64_t capacity, int stages);

  void load(const Source& from);
  /// One substep of step size h with the head at `head`, which matters only where it is.
  void substep(const Substep& substep, const ExplicitScheme& scheme, double h, double head);
  /// Whole steps of a piece without the head.
  void advance(const ExplicitScheme& scheme, double h, int steps);
  /// Writes `count` sites from `offset` on, which must still be valid.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const;
  /// Force on the head at `head` between the substeps, in N.
  double force(double head) const;
  /// Energy that the dashpot of the far end has taken: added up substep by substep, so that the length of the blocks
  /// changes no bit.
  double dissipated() const { return from_.dissipated; }

 private:
  void kick(double weighted_step, bool velocity_after, double head);
  void stage(int stage, const ExplicitScheme& scheme, double h, double head);
  void set_ghosts(std::vector<double>& w, double head) const;
  bool has_dashpot() const { return from_.at_far_end && line_.far_end == FarEnd::matched; }

  LineConstants line_;
  Source from_{};
  // Site j is entry j + 1. Entries 0 and count + 1 are ghosts: the head, what the last spring is tied to, or the cut.
  std::vector<double> w_, p_;
  std::vector<double> stage_w_, stage_p_;
  std::vector<std::vector<double>> velocities_, forces_;  // by stage
  bool in_stages_ = false;
};

}  // namespace bathline
