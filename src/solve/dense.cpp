// Dense linear algebra of small systems.
#include "solve/dense.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Powers of two d for which a row and a column of diag(d)^-1 A diag(d) of the same index have similar norms, so that
/// eigenvalues do not depend on units. Source: golub2013, section 7.5.7.
VectorXd balancing_scale(MatrixXd a) {
  VectorXd d = VectorXd::Ones(a.rows());
  a.diagonal().setZero();
  // Converges in a few sweeps; more only improve the scale.
  constexpr int max_sweeps = 100;
  bool changed = true;
  for (int sweep = 0; changed && sweep < max_sweeps; ++sweep) {
    changed = false;
    for (Index i = 0; i < a.rows(); ++i) {
      const double column = a.col(i).norm(), row = a.row(i).norm();
      if (!(column > 0.0) || !(row > 0.0) || !std::isfinite(column + row)) continue;
      const double factor = std::exp2(std::round(0.5 * std::log2(row / column)));
      if (column * factor + row / factor > 0.95 * (column + row)) continue;
      changed = true;
      d[i] *= factor;
      a.col(i) *= factor;
      a.row(i) /= factor;
    }
  }
  return d;
}

MatrixXd balanced(const MatrixXd& a, const VectorXd& scale) {
  return scale.cwiseInverse().asDiagonal() * a * scale.asDiagonal();
}

enum class Lyapunov { continuous, discrete };

/// Bartels and Stewart's method: with the Schur form A = U T U^H the equation for Y = U^H W U is solved column by
/// column,
///
///   (T^H + t_jj) y_j = -q_j - sum_{i<j} t_ij y_i,   or   (1 - t_jj T^H) y_j = q_j + T^H sum_{i<j} t_ij y_i.
///
/// Source: golub2013, section 7.6.3; kitagawa1977 for steps.
MatrixXd solve_by_schur_form(Lyapunov kind, const MatrixXd& a, const MatrixXd& q) {
  using Eigen::MatrixXcd;
  using Eigen::VectorXcd;
  const VectorXd scale = balancing_scale(a);
  const Eigen::ComplexSchur<MatrixXd> schur(balanced(a, scale));
  const MatrixXcd& t = schur.matrixT();
  const MatrixXcd& u = schur.matrixU();
  const MatrixXcd adjoint = t.adjoint();
  const MatrixXd scaled_q = scale.asDiagonal() * q * scale.asDiagonal();
  MatrixXcd y = u.adjoint() * scaled_q * u, shifted;
  for (Index j = 0; j < a.rows(); ++j) {
    const VectorXcd sum = y.leftCols(j) * t.col(j).head(j);
    if (kind == Lyapunov::continuous) {
      shifted = adjoint;
      shifted.diagonal().array() += t(j, j);
      y.col(j) = -y.col(j) - sum;
    } else {
      shifted = -t(j, j) * adjoint;
      shifted.diagonal().array() += 1.0;
      y.col(j) += adjoint * sum;
    }
    shifted.triangularView<Eigen::Lower>().solveInPlace(y.col(j));
  }
  const MatrixXd w = (u * y * u.adjoint()).real();
  return scale.cwiseInverse().asDiagonal() * w * scale.cwiseInverse().asDiagonal();
}

struct Eigenpair {
  std::complex<double> value;
  double uncertainty;  // of the value: the norm of the matrix times round-off times the eigenvalue's condition number
  Eigen::VectorXcd vector;
};

/// The eigenvalue with the largest `growth(eigenvalue)`. Source: golub2013, section 7.2.2.
template <class Growth>
Eigenpair fastest_growing(const MatrixXd& a, Growth growth) {
  const VectorXd scale = balancing_scale(a);
  const MatrixXd matrix = balanced(a, scale);
  const Eigen::EigenSolver<MatrixXd> solver(matrix);
  const Eigen::VectorXcd values = solver.eigenvalues();
  Index index = 0;
  for (Index i = 1; i < values.size(); ++i) {
    if (growth(values[i]) > growth(values[index])) index = i;
  }
  const Eigen::MatrixXcd vectors = solver.eigenvectors();
  const double condition =
      Eigen::MatrixXcd(vectors.fullPivLu().inverse()).row(index).norm() * vectors.col(index).norm();
  const double round_off = std::numeric_limits<double>::epsilon() * matrix.norm();
  // Eigenvalues that cannot be told apart have no finite condition number; two of them split by the root.
  const double bound = std::sqrt(round_off * std::max(matrix.norm(), round_off));
  return {values[index], std::isfinite(condition) ? std::min(round_off * condition, bound) : bound,
          scale.asDiagonal() * vectors.col(index)};
}

}  // namespace

Eigen::VectorXcd eigenvalues(const MatrixXd& square) {
  return Eigen::EigenSolver<MatrixXd>(square, false).eigenvalues();
}

RealEigen real_eigen(const MatrixXd& square) {
  const Eigen::EigenSolver<MatrixXd> solver(square);
  return {solver.eigenvalues(), solver.pseudoEigenvectors()};
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
  return solve_by_schur_form(Lyapunov::continuous, a, q);
}

MatrixXd solve_discrete_lyapunov(const MatrixXd& a, const MatrixXd& q) {
  return solve_by_schur_form(Lyapunov::discrete, a, q);
}

SlowestMotion slowest_motion_of_flow(const MatrixXd& a) {
  Eigenpair pair = fastest_growing(a, [](std::complex<double> x) { return x.real(); });
  return {-pair.value.real(), pair.uncertainty, std::abs(pair.value.imag()), std::move(pair.vector)};
}

SlowestMotion slowest_motion_of_steps(const MatrixXd& a, double h) {
  Eigenpair pair = fastest_growing(a, [](std::complex<double> x) { return std::abs(x); });
  const double modulus = std::abs(pair.value);
  return {-std::log(modulus) / h, pair.uncertainty / modulus / h, std::abs(std::arg(pair.value)) / h,
          std::move(pair.vector)};
}

MatrixXd pseudo_inverse(const MatrixXd& matrix) {
  const Eigen::JacobiSVD<MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  VectorXd inverse = svd.singularValues();
  for (double& size : inverse) size = size > 1e-12 * svd.singularValues()[0] ? 1.0 / size : 0.0;
  return svd.matrixV() * inverse.asDiagonal() * svd.matrixU().transpose();
}

ReducedMap fit_linear_map(const MatrixXd& from, const MatrixXd& to, double threshold) {
  constexpr double round_off = 1e-12;
  const Eigen::JacobiSVD<MatrixXd> svd(from, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const VectorXd& sizes = svd.singularValues();
  Index rank = 0;
  while (rank < sizes.size() && sizes[rank] > std::max(threshold, round_off * sizes[0])) ++rank;
  ReducedMap map;
  map.basis = svd.matrixU().leftCols(rank);
  map.matrix = map.basis.transpose() * to * svd.matrixV().leftCols(rank) * sizes.head(rank).cwiseInverse().asDiagonal();
  return map;
}

}  // namespace bathline
