// Lanczos' method with full reorthogonalisation.
#include "solve/lanczos.hpp"

#include <algorithm>
#include <random>

namespace bathline {

SymmetricEigen extremal_eigenvalues(const SymmetricProduct& product, Eigen::Index size, Eigen::Index lowest,
                                    Eigen::Index highest) {
  using Eigen::VectorXd;
  constexpr Eigen::Index max_steps = 240, steps_between_checks = 40;
  constexpr double roundoff = 1e-14, tolerance = 1e-12;
  const Eigen::Index steps = std::min(size, max_steps);
  Eigen::MatrixXd basis(size, steps);
  VectorXd diagonal(steps), off_diagonal(steps), y(size);
  // A start that no symmetry of the matrix singles out, the same in every run.
  std::mt19937_64 generator(1);
  for (double& x : y) x = static_cast<double>(generator()) * 0x1p-64 - 0.5;
  double length = y.norm();
  for (Eigen::Index k = 0; k < steps;) {
    basis.col(k) = y / length;
    product(basis.col(k), y);
    diagonal[k] = basis.col(k).dot(y);
    ++k;
    const auto vectors = basis.leftCols(k);
    for (int pass = 0; pass < 2; ++pass) y -= vectors * (vectors.transpose() * y).eval();
    off_diagonal[k - 1] = length = y.norm();
    const double scale = diagonal.head(k).cwiseAbs().maxCoeff() + off_diagonal.head(k).maxCoeff();
    const bool is_last_check = k == steps || !(length > roundoff * scale);
    if (!is_last_check && k % steps_between_checks != 0) continue;
    const auto [values, projected] = tridiagonal_eigen(diagonal.head(k), off_diagonal.head(k - 1));
    const double bound = tolerance * values.cwiseAbs().maxCoeff();
    const auto is_converged = [&, &last = projected](Eigen::Index i) {
      return length * std::abs(last(k - 1, i)) <= bound;
    };
    const Eigen::Index low = std::min(lowest, k), high = std::min(highest, k - low);
    bool all_converged = true;
    for (Eigen::Index i = 0; i < low; ++i) all_converged = all_converged && is_converged(i);
    for (Eigen::Index i = k - high; i < k; ++i) all_converged = all_converged && is_converged(i);
    if (!is_last_check && !all_converged) continue;
    SymmetricEigen result;
    result.values.resize(low + high);
    result.vectors.resize(size, low + high);
    result.values << values.head(low), values.tail(high);
    result.vectors.leftCols(low) = vectors * projected.leftCols(low);
    result.vectors.rightCols(high) = vectors * projected.rightCols(high);
    return result;
  }
  return {};
}

}  // namespace bathline
