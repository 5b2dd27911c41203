// Lanczos' method, every vector made orthogonal to all before.
#include "solve/lanczos.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <random>

namespace bathline {

SymmetricEigen extremal_eigenvalues(const SymmetricProduct& product, Eigen::Index size, Eigen::Index lowest,
                                    Eigen::Index highest) {
  using Eigen::VectorXd;
  constexpr Eigen::Index max_steps = 240, steps_between_looks = 40;
  constexpr double roundoff = 1e-14, converged = 1e-12;
  const Eigen::Index steps = std::min(size, max_steps);
  Eigen::MatrixXd basis(size, steps);
  VectorXd diagonal(steps), beside(steps), y(size);
  // Any start that no symmetry of the matrix singles out; the same every time.
  std::mt19937_64 generator(1);
  for (double& x : y) x = static_cast<double>(generator()) * 0x1p-64 - 0.5;
  double length = y.norm();
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> small;
  for (Eigen::Index k = 0; k < steps;) {
    basis.col(k) = y / length;
    product(basis.col(k), y);
    diagonal[k] = basis.col(k).dot(y);
    ++k;
    const auto known = basis.leftCols(k);
    for (int pass = 0; pass < 2; ++pass) y -= known * (known.transpose() * y).eval();
    beside[k - 1] = length = y.norm();
    const double scale = diagonal.head(k).cwiseAbs().maxCoeff() + beside.head(k).maxCoeff();
    const bool ends = k == steps || !(length > roundoff * scale);
    if (!ends && k % steps_between_looks != 0) continue;
    small.computeFromTridiagonal(diagonal.head(k), beside.head(k - 1));
    const auto& values = small.eigenvalues();
    const auto is_known = [&](Eigen::Index i) {
      return length * std::abs(small.eigenvectors()(k - 1, i)) <= converged * values.cwiseAbs().maxCoeff();
    };
    const Eigen::Index low = std::min(lowest, k), high = std::min(highest, k - low);
    bool all = true;
    for (Eigen::Index i = 0; i < low; ++i) all = all && is_known(i);
    for (Eigen::Index i = k - high; i < k; ++i) all = all && is_known(i);
    if (!ends && !all) continue;
    SymmetricEigen found;
    found.values.resize(low + high);
    found.vectors.resize(size, low + high);
    found.values << values.head(low), values.tail(high);
    found.vectors.leftCols(low) = known * small.eigenvectors().leftCols(low);
    found.vectors.rightCols(high) = known * small.eigenvectors().rightCols(high);
    return found;
  }
  return {};
}

}  // namespace bathline
