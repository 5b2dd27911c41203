// LU factors of dense and banded matrices, and orders in which a sparse matrix is banded.
#pragma once

#include <Eigen/SparseCore>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace bathline {

/// A square matrix A and its factors by Gaussian elimination with row interchanges (partial pivoting). Nothing is
/// allocated but by `resize`.
class BandedLu {
 public:
  BandedLu() = default;
  /// The factors of a sparse matrix in its own order.
  explicit BandedLu(const Eigen::SparseMatrix<double>& matrix);

  /// A zero matrix of n rows, whose entries (i, j) have -lower <= j - i <= upper; a dense one where a band of this
  /// width would need more memory.
  void resize(int n, int lower, int upper);
  void set_zero();
  int size() const { return n_; }
  bool is_dense() const { return stride_ == n_; }
  /// An entry of A, before `factor`.
  double& at(int i, int j) { return entries_[index(i, j)]; }
  const double& at(int i, int j) const { return entries_[index(i, j)]; }
  /// Between the places of entries (i, j) and (i + 1, j) in memory; entries of a row are neighbours there.
  int stride() const { return stride_; }

  /// Replaces A by its factors. False where A is singular or not finite; then there are none.
  bool factor();
  /// Replaces x by A^-1 x.
  void solve(double* x) const;
  /// Replaces x by A^-T x.
  void solve_transposed(double* x) const;

 private:
  std::size_t index(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(stride_) + static_cast<std::size_t>(j + shift_);
  }
  const double* row(int i) const { return entries_.data() + index(i, 0); }
  /// One more than the last row below the diagonal of column k, and than the last column of the row k of U.
  int end_of_column(int k) const { return std::min(n_, k + lower_ + 1); }
  int end_of_row(int k) const { return std::min(n_, k + lower_ + upper_ + 1); }

  int n_ = 0, lower_ = 0, upper_ = 0, stride_ = 0, shift_ = 0;
  std::vector<double> entries_, inverse_pivots_;
  std::vector<int> pivots_;  // the row that was interchanged with row k
};

/// New indices of the vertices of a graph, such that neighbours have close ones: the order of a breadth-first search
/// that visits neighbours by their numbers of neighbours and starts at a vertex that is far from others. `edges` may
/// contain each edge once or twice. Source: cuthill1969.
std::vector<int> cuthill_mckee(int vertices, const std::vector<std::pair<int, int>>& edges);

}  // namespace bathline
