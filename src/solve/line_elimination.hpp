// Elimination of a uniform line's tridiagonal system from its far end towards its near one, on one rank.
//
//   (1 + 2c) x_j - c x_{j-1} - c x_{j+1} = r_j,   j = 1..n,   x_0 given later;   the last row has a diagonal of its own
//
// Source: the Thomas algorithm; its pivots converge, so that they are computed once.
#pragma once

#include <cstdint>
#include <vector>

namespace bathline {

class LineElimination {
 public:
  /// For pieces of at most `length` sites.
  LineElimination(double coupling, double last_diagonal, std::int64_t length);

  /// In place; the value of the first site if x_0 were 0. `n` is at least 1.
  double eliminate(double* x, std::int64_t n) const;
  /// Completes the solution in place; `before` is x_0.
  void substitute(double* x, std::int64_t n, double before) const;
  /// How much of x_0 the first of `n` sites gets.
  double slope(std::int64_t n) const { return coupling_ * pivot(n - 1); }
  /// Reciprocal pivot at a distance from the far end.
  double pivot(std::int64_t distance) const {
    return distance < static_cast<std::int64_t>(pivots_.size()) ? pivots_[static_cast<std::size_t>(distance)]
                                                                : pivots_.back();
  }
  /// The pivot that they converge to, or the last one there is.
  double last_pivot() const { return pivots_.back(); }

 private:
  double coupling_;
  std::vector<double> pivots_;
};

}  // namespace bathline
