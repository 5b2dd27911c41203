// LU factors of dense and banded matrices, by the residuals of their solutions.
#include "solve/banded_lu.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numeric>

#include "random_numbers.hpp"

namespace bathline::banded_lu_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Shape {
  int n, lower, upper;
};

// Zeros on the diagonal make interchanges necessary, which widen the band.
TEST(BandedLu, LeavesResidualsOfRoundOff) {
  RandomNumbers random(4);
  for (const auto& [n, lower, upper] :
       {Shape{1, 0, 0}, Shape{2, 1, 1}, Shape{6, 5, 5}, Shape{9, 1, 2}, Shape{40, 3, 1}, Shape{40, 0, 4}}) {
    SCOPED_TRACE(testing::Message() << n << " rows, band " << lower << ", " << upper);
    BandedLu lu;
    lu.resize(n, lower, upper);
    EXPECT_EQ(lu.is_dense(), n <= 2 * lower + upper + 1);
    MatrixXd matrix = MatrixXd::Zero(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = std::max(0, i - lower); j <= std::min(n - 1, i + upper); ++j)
        matrix(i, j) = lu.at(i, j) = i == j && lower > 0 && n > 1 && i % 2 == 0 ? 0.0 : random.uniform();
    }
    ASSERT_TRUE(lu.factor());
    VectorXd right(n);
    for (double& x : right) x = random.uniform();
    VectorXd x = right, transposed = right;
    lu.solve(x.data());
    lu.solve_transposed(transposed.data());
    const double tolerance = 100.0 * std::numeric_limits<double>::epsilon() * matrix.norm();
    EXPECT_LT((matrix * x - right).norm(), tolerance * x.norm());
    EXPECT_LT((matrix.transpose() * transposed - right).norm(), tolerance * transposed.norm());
    const BandedLu of_sparse(matrix.sparseView());
    VectorXd same = right;
    of_sparse.solve(same.data());
    EXPECT_LT((matrix * same - right).norm(), tolerance * same.norm());
  }
}

TEST(BandedLu, FindsThatAMatrixIsSingular) {
  for (const double entry : {0.0, 0.5, std::numeric_limits<double>::quiet_NaN()}) {
    BandedLu lu;
    lu.resize(3, 2, 2);
    const MatrixXd matrix{{1.0, 2.0, 0.5}, {2.0, 4.0, 1.0}, {entry, 2.0 * entry, 0.25}};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) lu.at(i, j) = matrix(i, j);
    }
    EXPECT_FALSE(lu.factor()) << entry;
  }
}

/// The largest difference of the new indices of neighbours, and whether these are a permutation.
int band_of(int vertices, const std::vector<std::pair<int, int>>& edges) {
  const std::vector<int> ranks = cuthill_mckee(vertices, edges);
  std::vector<int> sorted = ranks, all(static_cast<std::size_t>(vertices));
  std::ranges::sort(sorted);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  int band = 0;
  for (const auto& [a, b] : edges)
    band = std::max(band, std::abs(ranks[static_cast<std::size_t>(a)] - ranks[static_cast<std::size_t>(b)]));
  return band;
}

TEST(CuthillMckee, MakesBandsNarrow) {
  constexpr int size = 30, stride = 7;  // the k-th vertex of a chain has the number 7 k mod 30
  std::vector<std::pair<int, int>> chain, ring, two, lattice;
  for (int k = 0; k < size; ++k) {
    const std::pair<int, int> edge(stride * k % size, stride * (k + 1) % size);
    ring.push_back(edge);
    if (k + 1 < size) chain.push_back(edge);
    if (k + 1 < size && k != 11) two.push_back(edge);
    if (k % 6 != 5) lattice.emplace_back(stride * k % size, stride * (k + 1) % size);
    if (k + 6 < size) lattice.emplace_back(stride * k % size, stride * (k + 6) % size);
  }
  EXPECT_EQ(band_of(size, chain), 1);
  EXPECT_EQ(band_of(size, ring), 2);
  EXPECT_EQ(band_of(size, two), 1);
  EXPECT_LE(band_of(size, lattice), 6);  // 5 x 6
  EXPECT_EQ(band_of(3, {{0, 0}, {1, 1}, {2, 2}}), 0);
}

}  // namespace
}  // namespace bathline::banded_lu_test
