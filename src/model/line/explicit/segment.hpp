// Consecutive sites of a line in plain loops, for one axis; either end is the head, the far end of the line, or a cut.
// This is the simplest implementation of an explicit scheme on a line.
#pragma once

#include <cstdint>
#include <vector>

#include "methods/scheme.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// A scratch copy of the sites. Each force evaluation makes one more site next to a cut invalid, so that only the inner
/// sites are valid after some steps: the caller has to load enough of them.
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
    double dissipated = 0.0;              ///< energy dissipated by the dashpot of the far end before, J
    const LineSegment* joined = nullptr;  ///< of a joined end: the segment that ends at the other strand's far end
  };

  /// For up to `capacity` sites; `stages` is the number of Runge-Kutta stages, 0 for a splitting.
  LineSegment(const LineConstants& line, std::int64_t capacity, int stages);

  void load(const Source& from);
  /// One substep of a step h, of a joined segment in lockstep with the other; `head`, its displacement, is ignored
  /// unless the segment begins at the head.
  void substep(const Substep& substep, const ExplicitScheme& scheme, double h, double head);
  /// Whole steps of a segment that begins at no head and ends at no joined end.
  void advance(const ExplicitScheme& scheme, double h, int steps);
  /// Writes `count` sites, beginning with site `offset`, which must be valid.
  void store(std::int64_t offset, std::int64_t count, double* w, double* p) const;
  /// Force on the head at `head`, N; also between stages.
  double force(double head) const;
  /// Displacement of the first site, between two steps.
  double first_w() const { return w_[1]; }
  /// Energy dissipated by the dashpot of the far end, J: added substep by substep, so that it does not depend on the
  /// length of the blocks.
  double dissipated() const { return source_.dissipated; }

 private:
  void kick(double weighted_step, bool velocity_after, double head);
  void stage(int stage, const ExplicitScheme& scheme, double h, double head);
  void set_ghosts(std::vector<double>& w, double head) const;
  bool has_dashpot() const { return source_.at_far_end && line_.far_end == FarEnd::matched; }

  LineConstants line_;
  Source source_{};
  // Site j is entry j + 1. Entries 0 and count + 1 are ghosts: the head, the end point of the last spring, or the cut.
  std::vector<double> w_, p_;
  std::vector<double> stage_w_, stage_p_;
  std::vector<std::vector<double>> velocities_, forces_;  // by stage
  bool in_stages_ = false;
};

}  // namespace bathline
