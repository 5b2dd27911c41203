// Elimination of a uniform line's tridiagonal system from its far end towards its near one, on one rank.
#include "solve/line_elimination.hpp"

#include <algorithm>

namespace bathline {

/// Pivots converge to a fixed point, so a table up to the first repetition serves a line of any length.
LineElimination::LineElimination(double coupling, double last_diagonal, std::int64_t length)
    : coupling_(coupling), pivots_{1.0 / last_diagonal} {
  const double diagonal = 1.0 + 2.0 * coupling;
  while (static_cast<std::int64_t>(pivots_.size()) < length) {
    const double next = 1.0 / (diagonal - coupling * coupling * pivots_.back());
    // The last bit may alternate at the fixed point.
    const bool settled = next == pivots_.back() || (pivots_.size() > 1 && next == pivots_[pivots_.size() - 2]);
    pivots_.push_back(next);
    if (settled) break;
  }
}

double LineElimination::eliminate(double* x, std::int64_t n) const {
  double value = 0.0;
  const std::int64_t settled = std::max<std::int64_t>(0, n - static_cast<std::int64_t>(pivots_.size()));
  for (std::int64_t j = n - 1; j >= settled; --j) {
    x[j] = value = (x[j] + coupling_ * value) * pivots_[static_cast<std::size_t>(n - 1 - j)];
  }
  const double last = pivots_.back();
  for (std::int64_t j = settled - 1; j >= 0; --j) x[j] = value = (x[j] + coupling_ * value) * last;
  return value;
}

void LineElimination::substitute(double* x, std::int64_t n, double before) const {
  double value = before;
  const std::int64_t settled = std::max<std::int64_t>(0, n - static_cast<std::int64_t>(pivots_.size()));
  const double last = coupling_ * pivots_.back();
  for (std::int64_t j = 0; j < settled; ++j) x[j] = value = x[j] + last * value;
  for (std::int64_t j = settled; j < n; ++j) {
    x[j] = value = x[j] + coupling_ * pivots_[static_cast<std::size_t>(n - 1 - j)] * value;
  }
}

}  // namespace bathline
