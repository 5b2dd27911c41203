// Dense linear algebra against closed forms and against the equations it solves.
#include "solve/dense.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "random_numbers.hpp"

namespace bathline::dense_test {
namespace {

using Eigen::MatrixXd;

MatrixXd random_matrix(int size, std::uint64_t seed) {
  RandomNumbers random(seed);
  MatrixXd matrix(size, size);
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) matrix(i, j) = random.uniform();
  }
  return matrix;
}

/// Rotation by an angle with growth: eigenvalues a +- i b.
MatrixXd spiral(double a, double b) { return (MatrixXd(2, 2) << a, -b, b, a).finished(); }

TEST(Dense, ExponentialOfASpiral) {
  const MatrixXd result = matrix_exponential(spiral(-0.3, 2.0));
  const MatrixXd expected = std::exp(-0.3) * spiral(std::cos(2.0), std::sin(2.0));
  EXPECT_LT((result - expected).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(Dense, SpectrumOfASpiralInOtherCoordinates) {
  const MatrixXd basis = (MatrixXd(2, 2) << 1.0, 3.0, 0.5, -2.0).finished();
  const MatrixXd matrix = basis * spiral(-0.3, 2.0) * basis.inverse();
  EXPECT_NEAR(spectral_radius(matrix), std::hypot(0.3, 2.0), 1e-14);
  EXPECT_NEAR(spectral_abscissa(matrix), -0.3, 1e-14);
}

TEST(Dense, NormIsTheLargestStretch) {
  const MatrixXd rotation = spiral(std::cos(0.4), std::sin(0.4));
  const MatrixXd stretch = (MatrixXd(2, 2) << 5.0, 0.0, 0.0, 0.1).finished();
  EXPECT_NEAR(spectral_norm(rotation * stretch * rotation), 5.0, 1e-14);
}

TEST(Dense, EigenvectorsOfASymmetricMatrixRebuildIt) {
  const MatrixXd half = random_matrix(7, 3);
  const MatrixXd matrix = half + half.transpose();
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  EXPECT_LT((eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose() - matrix).norm(), 1e-13);
  EXPECT_LT((eigen.vectors.transpose() * eigen.vectors - MatrixXd::Identity(7, 7)).norm(), 1e-13);
  for (int i = 1; i < 7; ++i) EXPECT_LE(eigen.values[i - 1], eigen.values[i]);
  EXPECT_DOUBLE_EQ(largest_symmetric_eigenvalue(matrix), eigen.values[6]);
}

TEST(Dense, LyapunovEquationsHold) {
  const MatrixXd half = random_matrix(5, 8);
  const MatrixXd q = half * half.transpose();
  const MatrixXd a = random_matrix(5, 4) - 3.0 * MatrixXd::Identity(5, 5);
  const MatrixXd w = solve_lyapunov(a, q);
  EXPECT_LT((a.transpose() * w + w * a + q).norm(), 1e-13 * q.norm());
  const MatrixXd d = 0.3 * random_matrix(5, 9);
  const MatrixXd discrete = solve_discrete_lyapunov(d, q);
  EXPECT_LT((discrete - q - d.transpose() * discrete * d).norm(), 1e-13 * q.norm());
}

TEST(Dense, DampedOscillatorDissipatesItsEnergy) {
  // x = (q, v), m v' = -k q - d v: the energy that the damper dissipates over all later times is the present energy.
  const double m = 3.0, k = 5.0, d = 0.7;
  const MatrixXd a = (MatrixXd(2, 2) << 0.0, 1.0, -k / m, -d / m).finished();
  const MatrixXd power = (MatrixXd(2, 2) << 0.0, 0.0, 0.0, d).finished();
  const MatrixXd w = solve_lyapunov(a, power);
  EXPECT_NEAR(w(0, 0), 0.5 * k, 1e-14);
  EXPECT_NEAR(w(1, 1), 0.5 * m, 1e-14);
  EXPECT_NEAR(w(0, 1), 0.0, 1e-14);
}

}  // namespace
}  // namespace bathline::dense_test
