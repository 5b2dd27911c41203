// LU factors of dense and banded matrices: row k of U begins at its diagonal, and multipliers stand below it in the
// order in which the rows were when column k was eliminated.
// Tested by tests/solve/banded_lu_test.cpp.
#include "solve/banded_lu.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "solve/size.hpp"

namespace bathline {

BandedLu::BandedLu(const Eigen::SparseMatrix<double>& matrix) {
  const auto for_each = [&](auto use) {
    for (int column = 0; column < matrix.outerSize(); ++column) {
      for (Eigen::SparseMatrix<double>::InnerIterator entry(matrix, column); entry; ++entry)
        use(static_cast<int>(entry.row()), column, entry.value());
    }
  };
  int lower = 0, upper = 0;
  for_each([&](int i, int j, double) {
    lower = std::max(lower, i - j);
    upper = std::max(upper, j - i);
  });
  resize(static_cast<int>(matrix.rows()), lower, upper);
  for_each([&](int i, int j, double value) { at(i, j) += value; });
  if (!factor()) std::fill(inverse_pivots_.begin(), inverse_pivots_.end(), std::nan(""));
}

void BandedLu::resize(int n, int lower, int upper) {
  // Interchanges widen U by `lower`.
  const int width = 2 * lower + upper + 1;
  const bool is_dense = width >= n;
  n_ = n;
  lower_ = is_dense ? n - 1 : lower;
  upper_ = is_dense ? n - 1 : upper;
  stride_ = is_dense ? n : width - 1;
  shift_ = is_dense ? 0 : lower;
  entries_.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(is_dense ? n : width), 0.0);
  inverse_pivots_.assign(static_cast<std::size_t>(n), 1.0);
  pivots_.assign(static_cast<std::size_t>(n), 0);
}

void BandedLu::set_zero() { std::fill(entries_.begin(), entries_.end(), 0.0); }

bool BandedLu::factor() {
  for (int k = 0; k < n_; ++k) {
    const int end = end_of_column(k), row_end = end_of_row(k);
    int pivot = k;
    for (int i = k + 1; i < end; ++i) {
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    }
    pivots_[static_cast<std::size_t>(k)] = pivot;
    if (!(std::abs(at(pivot, k)) > 0.0) || std::isinf(at(pivot, k))) return false;
    if (pivot != k) std::swap_ranges(&at(k, k), &at(k, k) + (row_end - k), &at(pivot, k));
    const double inverse = inverse_pivots_[static_cast<std::size_t>(k)] = 1.0 / at(k, k);
    const double* const from = row(k);
    for (int i = k + 1; i < end; ++i) {
      const double multiplier = at(i, k) *= inverse;
      if (multiplier == 0.0) continue;
      double* const to = entries_.data() + index(i, 0);
      for (int j = k + 1; j < row_end; ++j) to[j] -= multiplier * from[j];
    }
  }
  return true;
}

void BandedLu::solve(double* x) const {
  with_size(is_dense() ? n_ : 0, [&](auto dense) {
    const int n = dense > 0 ? static_cast<int>(dense) : n_;
    for (int k = 0; k < n; ++k) {
      std::swap(x[k], x[pivots_[static_cast<std::size_t>(k)]]);
      const int end = dense > 0 ? n : end_of_column(k);
      for (int i = k + 1; i < end; ++i) x[i] -= at(i, k) * x[k];
    }
    for (int k = n - 1; k >= 0; --k) {
      const double* const u = row(k);
      const int end = dense > 0 ? n : end_of_row(k);
      double sum = x[k];
      for (int j = k + 1; j < end; ++j) sum -= u[j] * x[j];
      x[k] = sum * inverse_pivots_[static_cast<std::size_t>(k)];
    }
  });
}

void BandedLu::solve_transposed(double* x) const {
  for (int k = 0; k < n_; ++k) {
    x[k] *= inverse_pivots_[static_cast<std::size_t>(k)];
    for (int j = k + 1; j < end_of_row(k); ++j) x[j] -= row(k)[j] * x[k];
  }
  for (int k = n_ - 1; k >= 0; --k) {
    for (int i = k + 1; i < end_of_column(k); ++i) x[k] -= at(i, k) * x[i];
    std::swap(x[k], x[pivots_[static_cast<std::size_t>(k)]]);
  }
}

std::vector<int> cuthill_mckee(int vertices, const std::vector<std::pair<int, int>>& edges) {
  std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(vertices));
  const auto of = [&](int vertex) -> std::vector<int>& { return neighbours[static_cast<std::size_t>(vertex)]; };
  for (const auto& [a, b] : edges) {
    of(a).push_back(b);
    of(b).push_back(a);
  }
  const auto has_fewer = [&](int a, int b) { return std::pair(of(a).size(), a) < std::pair(of(b).size(), b); };
  for (std::vector<int>& all : neighbours) {
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  for (std::vector<int>& all : neighbours) std::ranges::sort(all, has_fewer);
  std::vector<int> rank(neighbours.size(), -1), order;
  /// Appends those that can be reached from a vertex without a rank.
  const auto search = [&](int first) {
    std::size_t next = order.size();
    const auto visit = [&](int vertex) {
      int& place = rank[static_cast<std::size_t>(vertex)];
      if (place >= 0) return;
      place = static_cast<int>(order.size());
      order.push_back(vertex);
    };
    for (visit(first); next < order.size(); ++next) std::ranges::for_each(of(order[next]), visit);
  };
  std::vector<int> by_degree(neighbours.size());
  std::iota(by_degree.begin(), by_degree.end(), 0);
  std::ranges::sort(by_degree, has_fewer);
  for (const int first : by_degree) {
    if (rank[static_cast<std::size_t>(first)] >= 0) continue;
    const std::size_t begin = order.size();
    search(first);
    const int farthest = order.back();
    for (std::size_t i = begin; i < order.size(); ++i) rank[static_cast<std::size_t>(order[i])] = -1;
    order.resize(begin);
    search(farthest);
  }
  return rank;
}

}  // namespace bathline
