// Dense linear algebra of small systems by LAPACK: Eigen's decompositions take seconds to compile in every file.
// A decomposition of numbers that are not finite has the result NaN; one that does not converge throws
// std::runtime_error.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <limits>
#include <vector>

namespace bathline {

/// The factors of a square matrix by Gaussian elimination with row exchanges.
class Lu {
 public:
  explicit Lu(Eigen::MatrixXd matrix);
  /// NaN if the matrix is singular.
  Eigen::VectorXd solve(Eigen::VectorXd right) const;
  Eigen::MatrixXd solve(Eigen::MatrixXd right) const;

 private:
  void solve(double* right, Eigen::Index columns) const;

  Eigen::MatrixXd factors_;
  std::vector<int> rows_;  // exchanged
  bool is_singular_;
};
/// NaN if the matrix is singular.
Eigen::MatrixXd inverse(const Eigen::MatrixXd& square);

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& square);
/// Of a square matrix in real arithmetic.
struct RealEigen {
  Eigen::VectorXcd values;
  Eigen::MatrixXd vectors;  ///< columns; the two of a pair are the real and imaginary parts of the first
};
RealEigen real_eigen(const Eigen::MatrixXd& square);
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
Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix);
/// Of the symmetric matrix with these numbers on and beside its diagonal, n and n - 1; O(n^2) without eigenvectors.
SymmetricEigen tridiagonal_eigen(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& off_diagonal,
                                 bool with_vectors = true);
double largest_symmetric_eigenvalue(const Eigen::MatrixXd& matrix);
bool is_positive_definite(const Eigen::MatrixXd& symmetric);

/// U diag(values) V^T of m rows and n columns with the min(m, n) largest singular values.
struct SingularValues {
  Eigen::VectorXd values;  ///< descending
  Eigen::MatrixXd u, v;    ///< orthonormal columns
};
SingularValues singular_values(const Eigen::MatrixXd& matrix);
/// The shortest x with the least |A x - b|; singular values below `threshold` of the largest count as zero.
Eigen::VectorXd linear_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, double threshold);

/// A square matrix is U T U^T with an orthogonal U and T triangular but for blocks of 2 x 2 of complex pairs.
struct RealSchur {
  Eigen::MatrixXd t, u;
};
RealSchur real_schur(const Eigen::MatrixXd& square);

/// The Moore-Penrose inverse; singular values below 1e-12 of the largest count as zero.
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& matrix);

/// W with A^T W + W A + Q = 0, if no two eigenvalues of A add up to zero; O(n^3).
Eigen::MatrixXd solve_lyapunov(const Eigen::MatrixXd& a, const Eigen::MatrixXd& q);
/// W with W = Q + A^T W A, if no two eigenvalues of A have the product one; O(n^3).
Eigen::MatrixXd solve_discrete_lyapunov(const Eigen::MatrixXd& a, const Eigen::MatrixXd& q);

/// The motion of a linear system that decays most slowly; its rate is negative where it grows.
struct SlowestMotion {
  double rate = std::numeric_limits<double>::infinity();  ///< 1/s
  double uncertainty = 0.0;                               ///< of the rate, by round-off, 1/s
  double frequency = 0.0;                                 ///< rad/s, below half a turn in a step
  Eigen::VectorXcd shape;                                 ///< the eigenvector
  /// Whether the rate is positive and has three digits, as have stationary covariances then.
  bool decays() const { return rate > 1e3 * uncertainty; }
};
/// That of x' = A x.
SlowestMotion slowest_motion_of_flow(const Eigen::MatrixXd& a);
/// That of x+ = A x, a step of h seconds.
SlowestMotion slowest_motion_of_steps(const Eigen::MatrixXd& a, double h);

/// A linear map on the space that its arguments span: z+ = matrix z, x = basis z.
struct ReducedMap {
  Eigen::MatrixXd basis;   ///< orthonormal columns; none where all arguments are below `threshold`
  Eigen::MatrixXd matrix;  ///< in that basis
};
/// The map that takes the columns of `from` to those of `to`, by least squares. Directions in which all columns are
/// below `threshold`, or below 1e-12 of the largest, are dropped. Source: schmid2010, dynamic mode decomposition.
ReducedMap fit_linear_map(const Eigen::MatrixXd& from, const Eigen::MatrixXd& to, double threshold);

}  // namespace bathline
