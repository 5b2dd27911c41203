// Extremal eigenvalues against all of them, and against those of matrices whose eigenvalues are known.
#include "solve/lanczos.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "random_numbers.hpp"

namespace bathline::lanczos_test {
namespace {

SymmetricEigen extremal(const Eigen::MatrixXd& matrix, Eigen::Index lowest, Eigen::Index highest) {
  return extremal_eigenvalues([&](const Eigen::VectorXd& x, Eigen::VectorXd& y) { y = matrix * x; }, matrix.rows(),
                              lowest, highest);
}

TEST(ExtremalEigenvalues, AreThoseOfTheWholeMatrix) {
  RandomNumbers random(5);
  for (const int size : {1, 2, 7, 120, 300}) {
    Eigen::MatrixXd matrix(size, size);
    for (double& entry : matrix.reshaped()) entry = random.uniform(-1.0, 1.0);
    matrix = (matrix + matrix.transpose()).eval();
    const SymmetricEigen all = symmetric_eigen(matrix);
    const Eigen::Index low = std::min(size, 2), high = std::min<Eigen::Index>(size - low, 4);
    const SymmetricEigen result = extremal(matrix, 2, 4);
    ASSERT_EQ(result.values.size(), low + high);
    const double roundoff = 1e-12 * matrix.norm();
    EXPECT_LT((result.values.head(low) - all.values.head(low)).norm(), roundoff) << size;
    EXPECT_LT((result.values.tail(high) - all.values.tail(high)).norm(), roundoff) << size;
    EXPECT_LT((matrix * result.vectors - result.vectors * result.values.asDiagonal()).norm(), 1e-10 * matrix.norm());
  }
}

TEST(ExtremalEigenvalues, OfHigherMultiplicityAreFoundOnce) {
  const SymmetricEigen result = extremal(Eigen::VectorXd{{2.0, -1.0, 2.0, 2.0, -1.0, 0.5}}.asDiagonal(), 2, 4);
  ASSERT_EQ(result.values.size(), 3);
  EXPECT_NEAR(result.values[0], -1.0, 1e-14);
  EXPECT_NEAR(result.values[1], 0.5, 1e-14);
  EXPECT_NEAR(result.values[2], 2.0, 1e-14);
  EXPECT_EQ(extremal(Eigen::MatrixXd::Zero(400, 400), 1, 1).values.cwiseAbs().maxCoeff(), 0.0);
}

// The band of a chain, whose eigenvalues lie ever closer at its ends: the worst case.
TEST(ExtremalEigenvalues, OfAChainAreApproximatedFromInside) {
  constexpr int size = 1000;
  const auto chain = [](const Eigen::VectorXd& x, Eigen::VectorXd& y) {
    y = 2.0 * x;
    y.head(size - 1) -= x.tail(size - 1);
    y.tail(size - 1) -= x.head(size - 1);
  };
  const double highest = std::pow(2.0 * std::cos(0.5 * std::numbers::pi / (size + 1)), 2);
  const double result = extremal_eigenvalues(chain, size, 0, 1).values[0];
  EXPECT_LE(result, highest * (1.0 + 1e-14));
  EXPECT_GT(result, highest - 4e-4);
}

TEST(ExtremalEigenvalues, EndWhereTheMatrixIsNan) {
  int products = 0;
  const auto not_a_number = [&](const Eigen::VectorXd&, Eigen::VectorXd& y) {
    y.setConstant(std::nan(""));
    ++products;
  };
  EXPECT_LE(extremal_eigenvalues(not_a_number, 100, 1, 1).values.size(), 2);
  EXPECT_EQ(products, 1);
}

}  // namespace
}  // namespace bathline::lanczos_test
