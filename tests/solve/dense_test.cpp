// Dense linear algebra against closed forms and against the equations it solves.
#include "solve/dense.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "random_numbers.hpp"
#include "solve/linear_flow.hpp"

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

// In units in which the two coordinates differ by 10^26, at the scale of either.
TEST(Dense, ExponentialDoesNotDependOnUnits) {
  const double unit = 1e26;
  const MatrixXd result = matrix_exponential(MatrixXd{{0.0, 0.3 * unit}, {-0.3 / unit, 0.0}});
  const MatrixXd expected{{std::cos(0.3), std::sin(0.3) * unit}, {-std::sin(0.3) / unit, std::cos(0.3)}};
  EXPECT_LT((result - expected).cwiseQuotient(expected).cwiseAbs().maxCoeff(), 1e-14);
}

// The integral of e^{r (t - s)} e^{2 a s} over s from 0 to t.
TEST(Dense, GramianOfOneNumber) {
  for (const double a : {-1e3, -30.0, -0.1, -1e-12, 0.0, 0.2}) {
    for (const double r : {-40.0, -0.3, 0.0, 0.7}) {
      const auto one = [](double x) { return MatrixXd(MatrixXd::Constant(1, 1, x)); };
      const double t = 1.7, difference = 2.0 * a - r;
      const double expected = difference == 0.0 ? 3.0 * t * std::exp(r * t)
                                                : 3.0 * std::exp(r * t) * std::expm1(difference * t) / difference;
      EXPECT_NEAR(linear_flow(one(a), t, one(3.0), r).gramian(0, 0), expected, 1e-13 * expected) << a << ", " << r;
    }
  }
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
  EXPECT_NEAR(largest_symmetric_eigenvalue(matrix), eigen.values[6], 1e-13);
}

TEST(Dense, FactorsSolveAndSingularOnesDoNot) {
  for (const int n : {1, 3, 60}) {
    const MatrixXd a = random_matrix(n, 1) + MatrixXd::Identity(n, n), b = random_matrix(n, 2);
    const Lu lu(a);
    EXPECT_LT((a * lu.solve(b) - b).norm(), 1e-10);
    EXPECT_LT((a * lu.solve(Eigen::VectorXd(b.col(0))) - b.col(0)).norm(), 1e-10);
    EXPECT_LT((a * inverse(a) - MatrixXd::Identity(n, n)).norm(), 1e-10);
  }
  EXPECT_FALSE(inverse(MatrixXd::Ones(2, 2)).allFinite());
}

TEST(Dense, TridiagonalMatricesHaveKnownEigenvalues) {
  const int n = 40;
  const Eigen::VectorXd diagonal = Eigen::VectorXd::Constant(n, 2.0), beside = Eigen::VectorXd::Constant(n - 1, -1.0);
  const SymmetricEigen eigen = tridiagonal_eigen(diagonal, beside);
  const SymmetricEigen values_alone = tridiagonal_eigen(diagonal, beside, false);
  MatrixXd matrix = diagonal.asDiagonal();
  matrix.diagonal(1) = matrix.diagonal(-1) = beside;
  for (int j = 0; j < n; ++j) {
    const double exact = 4.0 * std::pow(std::sin(0.5 * (j + 1) * std::numbers::pi / (n + 1)), 2);
    EXPECT_NEAR(eigen.values[j], exact, 1e-13);
    EXPECT_NEAR(values_alone.values[j], exact, 1e-13);
    EXPECT_LT((matrix * eigen.vectors.col(j) - exact * eigen.vectors.col(j)).norm(), 1e-13);
  }
}

TEST(Dense, SingularValuesAndSchurFormsRebuildTheirMatrix) {
  for (const auto& [rows, columns] : {std::pair(7, 3), std::pair(3, 7)}) {
    const MatrixXd matrix = random_matrix(7, 5).topLeftCorner(rows, columns);
    const SingularValues svd = singular_values(matrix);
    EXPECT_LT((svd.u * svd.values.asDiagonal() * svd.v.transpose() - matrix).norm(), 1e-13);
    EXPECT_LT((matrix * pseudo_inverse(matrix) * matrix - matrix).norm(), 1e-13);
    EXPECT_GE(svd.values[0], svd.values[1]);
  }
  const MatrixXd square = random_matrix(6, 6);
  const RealSchur schur = real_schur(square);
  EXPECT_LT((schur.u * schur.t * schur.u.transpose() - square).norm(), 1e-13);
  // The second column twice the first: the shortest of the solutions.
  MatrixXd dependent = random_matrix(5, 11).leftCols(2);
  dependent.col(1) = 2.0 * dependent.col(0);
  const Eigen::VectorXd x = linear_least_squares(dependent, dependent.col(0), 1e-12);
  EXPECT_NEAR(x[0], 0.2, 1e-14);
  EXPECT_NEAR(x[1], 0.4, 1e-14);
}

TEST(Dense, RealEigenvectorsOfAPairAreItsRealAndImaginaryPart) {
  const MatrixXd matrix = random_matrix(6, 12);
  const RealEigen eigen = real_eigen(matrix);
  const std::complex<double> i(0.0, 1.0);
  for (int j = 0; j < 6; ++j) {
    Eigen::VectorXcd vector = eigen.vectors.col(j).cast<std::complex<double>>();
    if (eigen.values[j].imag() > 0.0) vector += i * eigen.vectors.col(j + 1);
    if (eigen.values[j].imag() < 0.0) continue;
    EXPECT_LT((matrix * vector - eigen.values[j] * vector).norm(), 1e-13);
  }
}

TEST(Dense, ExponentialsOfLargeNormsAndOfNilpotentMatrices) {
  // Rows of the exponential of h J, J of Jordan form with eigenvalue -1000.
  MatrixXd jordan = -1000.0 * MatrixXd::Identity(3, 3);
  jordan.diagonal(1).setOnes();
  const MatrixXd result = matrix_exponential(0.02 * jordan);
  EXPECT_NEAR(result(0, 2) / (0.5 * 0.02 * 0.02 * std::exp(-20.0)), 1.0, 1e-11);
  EXPECT_NEAR(result(0, 0) / std::exp(-20.0), 1.0, 1e-11);
  EXPECT_EQ(result(2, 0), 0.0);
  EXPECT_EQ(matrix_exponential(MatrixXd::Zero(2, 2)), MatrixXd(MatrixXd::Identity(2, 2)));
}

TEST(Dense, NumbersThatAreNotFiniteGiveNone) {
  MatrixXd matrix = MatrixXd::Identity(3, 3);
  matrix(1, 2) = std::nan("");
  EXPECT_TRUE(std::isnan(symmetric_eigenvalues(matrix)[0]));
  EXPECT_TRUE(std::isnan(eigenvalues(matrix)[0].real()));
  EXPECT_TRUE(std::isnan(singular_values(matrix).values[0]));
  EXPECT_TRUE(std::isnan(matrix_exponential(matrix)(0, 0)));
  EXPECT_TRUE(std::isnan(solve_lyapunov(matrix, matrix)(0, 0)));
  EXPECT_FALSE(is_positive_definite(matrix));
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

// Kronecker products would need systems of 4096 unknowns.
TEST(Dense, LyapunovEquationsOfManyVariablesHold) {
  const int size = 64;
  const MatrixXd half = random_matrix(size, 18), q = half * half.transpose();
  const MatrixXd a = random_matrix(size, 14) - size * MatrixXd::Identity(size, size);
  const MatrixXd w = solve_lyapunov(a, q), step = 0.9 / size * random_matrix(size, 19);
  EXPECT_LT((a.transpose() * w + w * a + q).norm(), 1e-12 * q.norm());
  const MatrixXd discrete = solve_discrete_lyapunov(step, q);
  EXPECT_LT((discrete - q - step.transpose() * discrete * step).norm(), 1e-12 * q.norm());
}

// Two coupled atoms in SI units: x = (q, v) in m and m/s, with entries from 1 to 10^29.
TEST(Dense, LyapunovEquationsAndRatesDoNotDependOnUnits) {
  const double m = 1e-26, k = 1e3, d = 1e-13;
  const MatrixXd springs = (MatrixXd(2, 2) << 2.0, -1.0, -1.0, 3.0).finished();
  MatrixXd a = MatrixXd::Zero(4, 4), power = MatrixXd::Zero(4, 4);
  a.topRightCorner(2, 2).setIdentity();
  a.bottomLeftCorner(2, 2) = -k / m * springs;
  a.bottomRightCorner(2, 2) = -d / m * MatrixXd::Identity(2, 2);
  power.bottomRightCorner(2, 2) = d * MatrixXd::Identity(2, 2);
  const MatrixXd w = solve_lyapunov(a, power);
  EXPECT_LT((w.topLeftCorner(2, 2) / (0.5 * k) - springs).norm(), 1e-9);
  EXPECT_LT((w.bottomRightCorner(2, 2) / (0.5 * m) - MatrixXd::Identity(2, 2)).norm(), 1e-9);
  const SlowestMotion slowest = slowest_motion_of_flow(a);
  EXPECT_NEAR(slowest.rate / (0.5 * d / m), 1.0, 1e-9);
  EXPECT_TRUE(slowest.decays());
}

TEST(Dense, SlowestMotionHasARateAFrequencyAndAnUncertainty) {
  MatrixXd a = MatrixXd::Zero(3, 3);
  a.topLeftCorner(2, 2) = spiral(-0.3, 2.0);
  a(2, 2) = -5.0;
  const double h = 0.1;
  for (const SlowestMotion& slowest :
       {slowest_motion_of_flow(a), slowest_motion_of_steps(matrix_exponential(h * a), h)}) {
    EXPECT_NEAR(slowest.rate, 0.3, 1e-13);
    EXPECT_NEAR(slowest.frequency, 2.0, 1e-13);
    EXPECT_LT(slowest.uncertainty, 1e-13);
    EXPECT_TRUE(slowest.decays());
  }
  // A free particle, and one with a friction that round-off of the spring hides.
  const MatrixXd free = (MatrixXd(2, 2) << 1.0, h, 0.0, 1.0).finished();
  EXPECT_FALSE(slowest_motion_of_steps(free, h).decays());
  EXPECT_FALSE(slowest_motion_of_flow((MatrixXd(2, 2) << 0.0, 1.0, -1.0, -1e-14).finished()).decays());
  EXPECT_LT(slowest_motion_of_flow(spiral(0.2, 1.0)).rate, 0.0);
}

TEST(Dense, LinearMapsAreFittedOnTheSpaceOfTheirArguments) {
  // Two decays seen through five coordinates.
  const MatrixXd seen = random_matrix(5, 21).leftCols(2);
  const MatrixXd map = (MatrixXd(2, 2) << 0.9, 0.1, 0.0, 0.7).finished();
  MatrixXd from(5, 6), to(5, 6);
  Eigen::Vector2d x(1.0, 1.0);
  for (int j = 0; j < 6; ++j, x = map * x) {
    from.col(j) = seen * x;
    to.col(j) = seen * map * x;
  }
  const ReducedMap fit = fit_linear_map(from, to, 1e-9);
  ASSERT_EQ(fit.matrix.rows(), 2);
  EXPECT_NEAR(spectral_radius(fit.matrix), 0.9, 1e-12);
  EXPECT_LT((fit.basis * fit.matrix * fit.basis.transpose() * from - to).norm(), 1e-12);
  EXPECT_EQ(fit_linear_map(from, to, 1e3).matrix.size(), 0);
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
