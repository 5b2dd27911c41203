// Dense linear algebra of small systems.
#include "solve/dense.hpp"

#include <Eigen/Dense>
#include <unsupported/Eigen/KroneckerProduct>
#include <unsupported/Eigen/MatrixFunctions>

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Solves a linear system whose unknowns are the entries of a matrix, column by column.
MatrixXd solve_for_matrix(const MatrixXd& system, const MatrixXd& right) {
  const VectorXd solution = system.fullPivLu().solve(Eigen::Map<const VectorXd>(right.data(), right.size()));
  return Eigen::Map<const MatrixXd>(solution.data(), right.rows(), right.cols());
}

}  // namespace

MatrixXd matrix_exponential(const MatrixXd& matrix) { return matrix.exp(); }

Eigen::VectorXcd eigenvalues(const MatrixXd& square) {
  return Eigen::EigenSolver<MatrixXd>(square, false).eigenvalues();
}

double spectral_radius(const MatrixXd& matrix) { return eigenvalues(matrix).cwiseAbs().maxCoeff(); }

double spectral_abscissa(const MatrixXd& matrix) { return eigenvalues(matrix).real().maxCoeff(); }

double spectral_norm(const MatrixXd& matrix) {
  return std::sqrt(largest_symmetric_eigenvalue(matrix.transpose() * matrix));
}

SymmetricEigen symmetric_eigen(const MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

double largest_symmetric_eigenvalue(const MatrixXd& matrix) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

bool is_positive_definite(const MatrixXd& symmetric) { return symmetric.llt().info() == Eigen::Success; }

MatrixXd solve_lyapunov(const MatrixXd& a, const MatrixXd& q) {
  const MatrixXd at = a.transpose();
  const MatrixXd identity = MatrixXd::Identity(a.rows(), a.rows());
  const MatrixXd system =
      MatrixXd(Eigen::kroneckerProduct(identity, at)) + MatrixXd(Eigen::kroneckerProduct(at, identity));
  return solve_for_matrix(system, -q);
}

MatrixXd solve_discrete_lyapunov(const MatrixXd& a, const MatrixXd& q) {
  const MatrixXd at = a.transpose();
  const MatrixXd system = MatrixXd::Identity(a.size(), a.size()) - MatrixXd(Eigen::kroneckerProduct(at, at));
  return solve_for_matrix(system, q);
}

}  // namespace bathline
