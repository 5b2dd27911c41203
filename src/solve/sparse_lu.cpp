// LU factors of sparse matrices.
// Tested by tests/steppers/particle_stages_test.cpp.
#include "solve/sparse_lu.hpp"

#include <Eigen/SparseLU>
#include <limits>

namespace bathline {

struct SparseLu::Factors {
  Eigen::SparseLU<Matrix> lu;
  bool is_ordered = false;
};

SparseLu::SparseLu() : factors_(std::make_unique<Factors>()) {}
SparseLu::~SparseLu() = default;

void SparseLu::factor(const Matrix& matrix) {
  if (!factors_->is_ordered) factors_->lu.analyzePattern(matrix);
  factors_->is_ordered = true;
  factors_->lu.factorize(matrix);
}

SparseLu::Vector SparseLu::solve(const Vector& b) const {
  if (factors_->lu.info() == Eigen::Success) return factors_->lu.solve(b);
  return Vector::Constant(b.size(), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace bathline
