// Dense linear algebra of small systems, compiled once: the decompositions are slow to compile.
#pragma once

#include <Eigen/Core>

namespace bathline {

Eigen::MatrixXd matrix_exponential(const Eigen::MatrixXd& matrix);
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& square);
/// Largest absolute value of the eigenvalues of a square matrix.
double spectral_radius(const Eigen::MatrixXd& matrix);
/// Largest real part of the eigenvalues of a square matrix.
double spectral_abscissa(const Eigen::MatrixXd& matrix);
/// Largest singular value.
double spectral_norm(const Eigen::MatrixXd& matrix);

struct SymmetricEigen {
  Eigen::VectorXd values;   ///< ascending
  Eigen::MatrixXd vectors;  ///< columns
};
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix);
double largest_symmetric_eigenvalue(const Eigen::MatrixXd& matrix);
bool is_positive_definite(const Eigen::MatrixXd& symmetric);

/// W with A^T W + W A + Q = 0, if no two eigenvalues of A add up to zero.
Eigen::MatrixXd solve_lyapunov(const Eigen::MatrixXd& a, const Eigen::MatrixXd& q);
/// W with W = Q + A^T W A, if no two eigenvalues of A have the product one.
Eigen::MatrixXd solve_discrete_lyapunov(const Eigen::MatrixXd& a, const Eigen::MatrixXd& q);

}  // namespace bathline
