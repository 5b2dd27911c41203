// LU factors of sparse matrices, compiled once.
#pragma once

#include <Eigen/SparseCore>
#include <memory>

namespace bathline {

/// For unknowns that are coupled to few others, as in a chain; all matrices have the same sparsity pattern.
class SparseLu {
 public:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::SparseMatrix<double>;
  static Matrix matrix(Eigen::Index size) { return Matrix(size, size); }
  SparseLu();
  ~SparseLu();
  void factor(const Matrix& matrix);
  /// NaN where the matrix is singular.
  Vector solve(const Vector& b) const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

}  // namespace bathline
