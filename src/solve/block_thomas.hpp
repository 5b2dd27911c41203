// Elimination of the block tridiagonal system of a uniform line from its far end towards its near one, on one rank.
//
//   (1 + 2c) x_j - c x_{j-1} - c x_{j+1} = r_j,   j = 1..n,   x_0 given later;   the last row has a diagonal of its own
//
// with S numbers a site and any S x S matrix c, whether or not it can be diagonalised.
// Source: the block Thomas algorithm (golub2013, section 4.5.1); its pivots converge, so that they are computed once.
// Tested by tests/solve/tridiagonal_test.cpp.
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace bathline {

template <int S>
class BlockThomas {
 public:
  using Block = Eigen::Matrix<double, S, S>;
  using Value = Eigen::Matrix<double, S, 1>;

  /// For pieces of at most `length` sites.
  BlockThomas(const Block& coupling, const Block& last_diagonal, std::int64_t length);

  /// Eliminates in place, S numbers a site; returns the value that the first site would have for x_0 = 0. `n` is at
  /// least 1.
  Value eliminate(double* x, std::int64_t n) const;
  /// Completes the solution in place by back substitution; `before` is x_0.
  void substitute(double* x, std::int64_t n, const Value& before) const;
  /// The coefficient of x_0 in the value of the first of `n` sites.
  const Block& slope(std::int64_t n) const { return factor(n - 1); }
  /// Inverse pivot at a distance from the far end.
  const Block& pivot(std::int64_t distance) const { return pivots_[index(distance)]; }
  /// The inverse pivot times c: the coefficient of the preceding site in the value of a site.
  const Block& factor(std::int64_t distance) const { return factors_[index(distance)]; }

  static Eigen::Map<Value> site(double* x, std::int64_t j) { return Eigen::Map<Value>(x + S * j); }

 private:
  /// sum + matrix x by fused multiply-adds: the next site depends on a chain of S of them.
  static Value plus_product(Value sum, const Block& matrix, const Value& x) {
    for (int column = 0; column < S; ++column) {
      for (int row = 0; row < S; ++row) sum[row] = std::fma(matrix(row, column), x[column], sum[row]);
    }
    return sum;
  }
  std::size_t index(std::int64_t distance) const {
    return static_cast<std::size_t>(std::min(distance, static_cast<std::int64_t>(pivots_.size()) - 1));
  }

  // Pivots converge, so tables up to convergence to round-off serve a line of any length.
  std::vector<Block> pivots_, factors_;
};

template <int S>
BlockThomas<S>::BlockThomas(const Block& coupling, const Block& last_diagonal, std::int64_t length) {
  const Block diagonal = Block::Identity() + 2.0 * coupling;
  double change = std::numeric_limits<double>::infinity();
  Block next = last_diagonal.inverse();
  do {
    pivots_.push_back(next);
    factors_.push_back(next * coupling);
    next = (diagonal - coupling * pivots_.back() * coupling).inverse();
    change = (next - pivots_.back()).norm();
  } while (static_cast<std::int64_t>(pivots_.size()) < length &&
           change > std::numeric_limits<double>::epsilon() * next.norm());
}

template <int S>
typename BlockThomas<S>::Value BlockThomas<S>::eliminate(double* x, std::int64_t n) const {
  Value value = Value::Zero();
  for (std::int64_t j = n - 1; j >= 0; --j) {
    const std::size_t k = index(n - 1 - j);
    // This product does not depend on the site behind and is therefore off the critical path.
    const Value own = pivots_[k] * site(x, j);
    value = plus_product(own, factors_[k], value);
    site(x, j) = value;
  }
  return value;
}

template <int S>
void BlockThomas<S>::substitute(double* x, std::int64_t n, const Value& before) const {
  Value value = before;
  for (std::int64_t j = 0; j < n; ++j) {
    value = plus_product(site(x, j), factor(n - 1 - j), value);
    site(x, j) = value;
  }
}

}  // namespace bathline
