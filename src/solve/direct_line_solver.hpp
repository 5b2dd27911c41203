// What the direct solvers of a line have in common: two sweeps over the sites, and between them the particles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bathline {

/// v_1 = constant + slope * v_0 for every field (axis) of a line.
struct HeadRelation {
  std::vector<double> constant;
  double slope = 0.0;
};

/// A row of the symmetric matrix, for solvers that want it assembled:
/// diagonal v_j - before v_{j-1} - behind v_{j+1} = r_j, where v_0 is the head's.
struct LineRow {
  double before = 0.0;
  double diagonal = 1.0;
  double behind = 0.0;  ///< 0 in the last of all rows
  double unit = 1.0;    ///< the fields hold unit * v
};

class DirectLineSolver {
 public:
  virtual ~DirectLineSolver() = default;
  /// Eliminates in place: `fields[f]` points at this rank's part of the right-hand side.
  /// The relation is the same on every rank. @note Collective.
  virtual const HeadRelation& eliminate(std::span<double* const> fields) = 0;
  /// Completes the solution in place after `eliminate`; `head[f]` is v_0, the same on every rank.
  virtual void substitute(std::span<double* const> fields, std::span<const double> head) = 0;
  /// Of this rank's `site`, from 0.
  virtual LineRow row(std::int64_t site) const = 0;
};

}  // namespace bathline
