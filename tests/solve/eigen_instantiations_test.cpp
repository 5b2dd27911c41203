// The decompositions and products that are instantiated once, against the equations that they solve.
#include "solve/eigen_instantiations.hpp"

#include <gtest/gtest.h>

#include "random_numbers.hpp"

namespace bathline::eigen_instantiations_test {
namespace {

using Eigen::MatrixXd;

MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  RandomNumbers random(seed);
  MatrixXd matrix(rows, columns);
  for (double& entry : matrix.reshaped()) entry = random.uniform();
  return matrix;
}

/// Entries of A x - b where those of A, x and b are of order 1 and A is far from singular.
constexpr double roundoff = 1e-12;

TEST(EigenInstantiations, LinearEquationsOfOneAndOfManyRightHandSides) {
  // Above and below the size from which Eigen uses blocks.
  for (const Eigen::Index n : {3, 60}) {
    const MatrixXd a = random_matrix(n, n, 1) + n * MatrixXd::Identity(n, n), b = random_matrix(n, 4, 2);
    const Eigen::PartialPivLU<MatrixXd> lu(a);
    const MatrixXd x = lu.solve(b);
    EXPECT_LT((a * x - b).cwiseAbs().maxCoeff(), roundoff);
    const Eigen::VectorXd right = b.col(3), single = lu.solve(right);
    EXPECT_LT((a * single - right).cwiseAbs().maxCoeff(), roundoff);
  }
}

TEST(EigenInstantiations, InverseOfFiveStages) {
  using Block = Eigen::Matrix<double, 5, 5>;
  const Block a = random_matrix(5, 5, 3) + 5.0 * MatrixXd::Identity(5, 5);
  const Block product = a * a.inverse();
  EXPECT_LT((product - Block::Identity()).cwiseAbs().maxCoeff(), roundoff);
}

TEST(EigenInstantiations, EigenvectorsOfASymmetricAndOfATridiagonalMatrix) {
  const MatrixXd half = random_matrix(20, 20, 4), a = half + half.transpose();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(a);
  const MatrixXd& vectors = solver.eigenvectors();
  EXPECT_LT((a * vectors - vectors * solver.eigenvalues().asDiagonal()).cwiseAbs().maxCoeff(), roundoff);
  EXPECT_LT((vectors.transpose() * vectors - MatrixXd::Identity(20, 20)).cwiseAbs().maxCoeff(), roundoff);

  const Eigen::VectorXd diagonal = a.diagonal(), off_diagonal = a.diagonal(1);
  MatrixXd bands = diagonal.asDiagonal();
  bands.diagonal(1) = bands.diagonal(-1) = off_diagonal;
  Eigen::SelfAdjointEigenSolver<MatrixXd> tridiagonal;
  tridiagonal.computeFromTridiagonal(diagonal, off_diagonal);
  const MatrixXd& modes = tridiagonal.eigenvectors();
  EXPECT_LT((bands * modes - modes * tridiagonal.eigenvalues().asDiagonal()).cwiseAbs().maxCoeff(), roundoff);
}

TEST(EigenInstantiations, ProductsAreSumsOfProducts) {
  const MatrixXd a = random_matrix(40, 30, 5), b = random_matrix(30, 50, 6);
  const MatrixXd left = a.transpose(), right = b.transpose();
  const MatrixXd products[] = {a * b, left.transpose() * b, a * right.transpose(),
                               left.transpose() * right.transpose()};
  const Eigen::VectorXd vectors[] = {a * b.col(7), left.transpose() * b.col(7)};
  for (Eigen::Index i = 0; i < 40; ++i) {
    for (Eigen::Index j = 0; j < 50; ++j) {
      double sum = 0.0;
      for (Eigen::Index k = 0; k < 30; ++k) sum += a(i, k) * b(k, j);
      for (const MatrixXd& product : products) EXPECT_NEAR(product(i, j), sum, roundoff);
      for (const Eigen::VectorXd& vector : vectors) {
        if (j == 7) {
          EXPECT_NEAR(vector[i], sum, roundoff);
        }
      }
    }
  }
}

}  // namespace
}  // namespace bathline::eigen_instantiations_test
