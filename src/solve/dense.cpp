// Dense linear algebra of small systems.
#include "solve/dense.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <stdexcept>
#include <string>
#include <utility>

// Characters are followed by their lengths after all arguments, as Fortran compilers pass them.
extern "C" {
using Z = std::complex<double>;
void dgemm_(const char*, const char*, const int* m, const int* n, const int* k, const double*, const double* a,
            const int*, const double* b, const int*, const double*, double* c, const int*, std::size_t, std::size_t);
void zgemm_(const char*, const char*, const int* m, const int* n, const int* k, const Z*, const Z* a, const int*,
            const Z* b, const int*, const Z*, Z* c, const int*, std::size_t, std::size_t);
void ztrsv_(const char*, const char*, const char*, const int* n, const Z* a, const int*, Z* x, const int*, std::size_t,
            std::size_t, std::size_t);
void dgetrf_(const int* m, const int* n, double* a, const int*, int* pivots, int* info);
void dgetrs_(const char*, const int* n, const int* columns, const double* a, const int*, const int* pivots, double* b,
             const int*, int* info, std::size_t);
void dpotrf_(const char*, const int* n, double* a, const int*, int* info, std::size_t);
void dsyevd_(const char*, const char*, const int* n, double* a, const int*, double* values, double* work, const int*,
             int* iwork, const int*, int* info, std::size_t, std::size_t);
void dstevd_(const char*, const int* n, double* d, double* e, double* z, const int*, double* work, const int*,
             int* iwork, const int*, int* info, std::size_t);
void dgeev_(const char*, const char*, const int* n, double* a, const int*, double* re, double* im, double* left,
            const int*, double* right, const int*, double* work, const int*, int* info, std::size_t, std::size_t);
void dgees_(const char*, const char*, void*, const int* n, double* a, const int*, int*, double* re, double* im,
            double* u, const int*, double* work, const int*, int*, int* info, std::size_t, std::size_t);
void zgees_(const char*, const char*, void*, const int* n, Z* a, const int*, int*, Z* values, Z* u, const int*, Z* work,
            const int*, double*, int*, int* info, std::size_t, std::size_t);
void dgesdd_(const char*, const int* m, const int* n, double* a, const int*, double* values, double* u, const int*,
             double* vt, const int*, double* work, const int*, int* iwork, int* info, std::size_t);
}

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int one = 1;

int size_of(Index size) { return static_cast<int>(size); }

/// Calls a routine twice: with sizes of -1 it says how much memory it needs. `call` takes work, its size, integers,
/// their size, and info.
template <class Number, class Call>
void with_memory(const char* what, Call call) {
  Number size{};
  int integers = 0, info = 0, ask = -1;
  call(&size, &ask, &integers, &ask, &info);
  const int count = std::max(1, static_cast<int>(std::real(size)));
  integers = std::max(1, integers);
  std::vector<Number> work(static_cast<std::size_t>(count));
  std::vector<int> iwork(static_cast<std::size_t>(integers));
  call(work.data(), &count, iwork.data(), &integers, &info);
  if (info > 0) throw std::runtime_error(std::string(what) + " of a matrix were not found");
}

MatrixXd product(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd c(a.rows(), b.cols());
  const int m = size_of(a.rows()), n = size_of(b.cols()), k = size_of(a.cols());
  const int lda = std::max(1, m), ldb = std::max(1, k);
  const double unit = 1.0, zero = 0.0;
  if (c.size() > 0) dgemm_("N", "N", &m, &n, &k, &unit, a.data(), &lda, b.data(), &ldb, &zero, c.data(), &lda, 1, 1);
  return c;
}

/// Of square ones, adjoint where the letter is C.
MatrixXcd product(const char* kind_a, const MatrixXcd& a, const char* kind_b, const MatrixXcd& b) {
  MatrixXcd c(a.rows(), a.rows());
  const int n = size_of(a.rows());
  const Z unit = 1.0, zero = 0.0;
  zgemm_(kind_a, kind_b, &n, &n, &n, &unit, a.data(), &n, b.data(), &n, &zero, c.data(), &n, 1, 1);
  return c;
}

/// Eigenvalues and eigenvectors of A and, where `left` is not null, of A^T, pairs as in `RealEigen`.
VectorXcd general_eigen(MatrixXd a, MatrixXd* left, MatrixXd* right) {
  const Index size = a.rows();
  VectorXd re = VectorXd::Constant(size, nan), im = VectorXd::Zero(size);
  for (MatrixXd* vectors : {left, right}) {
    if (vectors != nullptr) vectors->setConstant(size, size, nan);
  }
  const int n = size_of(size);
  if (a.allFinite() && n > 0) {
    with_memory<double>("the eigenvalues", [&](double* work, const int* count, int*, const int*, int* info) {
      dgeev_(left == nullptr ? "N" : "V", right == nullptr ? "N" : "V", &n, a.data(), &n, re.data(), im.data(),
             left == nullptr ? nullptr : left->data(), &n, right == nullptr ? nullptr : right->data(), &n, work, count,
             info, 1, 1);
    });
  }
  VectorXcd values(size);
  values.real() = re;
  values.imag() = im;
  return values;
}

SymmetricEigen symmetric(const MatrixXd& matrix, bool with_vectors) {
  const int n = size_of(matrix.rows());
  SymmetricEigen eigen{VectorXd::Constant(n, nan), matrix};
  if (!matrix.allFinite()) {
    eigen.vectors.setConstant(nan);
  } else if (n > 0) {
    with_memory<double>("the eigenvalues",
                        [&](double* work, const int* count, int* iwork, const int* icount, int* info) {
                          dsyevd_(with_vectors ? "V" : "N", "L", &n, eigen.vectors.data(), &n, eigen.values.data(),
                                  work, count, iwork, icount, info, 1, 1);
                        });
  }
  return eigen;
}

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
  const int n = size_of(a.rows());
  const VectorXd scale = balancing_scale(a);
  MatrixXcd t = balanced(a, scale).cast<Z>(), u = MatrixXcd::Constant(n, n, nan);
  if (!a.allFinite() || !q.allFinite() || n == 0) return u.real();
  VectorXcd values(n);
  VectorXd real_work(n);
  with_memory<Z>("the Schur form", [&](Z* work, const int* count, int*, const int*, int* info) {
    int selected = 0;
    zgees_("V", "N", nullptr, &n, t.data(), &n, &selected, values.data(), u.data(), &n, work, count, real_work.data(),
           nullptr, info, 1, 1);
  });
  const MatrixXcd adjoint = t.adjoint();
  const MatrixXd scaled_q = scale.asDiagonal() * q * scale.asDiagonal();
  MatrixXcd y = product("N", product("C", u, "N", scaled_q.cast<Z>()), "N", u), shifted;
  for (Index j = 0; j < n; ++j) {
    VectorXcd sum = VectorXcd::Zero(n);
    for (Index i = 0; i < j; ++i) sum += t(i, j) * y.col(i);
    if (kind == Lyapunov::continuous) {
      shifted = adjoint;
      shifted.diagonal().array() += t(j, j);
      y.col(j) = -y.col(j) - sum;
    } else {
      shifted = -t(j, j) * adjoint;
      shifted.diagonal().array() += 1.0;
      for (Index i = 0; i < n; ++i) y.col(j) += sum[i] * adjoint.col(i);
    }
    ztrsv_("L", "N", "N", &n, shifted.data(), &n, y.col(j).data(), &one, 1, 1, 1);
  }
  const MatrixXd w = product("N", product("N", u, "N", y), "C", u).real();
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
  MatrixXd left, right;
  const VectorXcd values = general_eigen(matrix, &left, &right);
  Index index = 0;
  for (Index i = 1; i < values.size(); ++i) {
    if (growth(values[i]) > growth(values[index])) index = i;
  }
  // Of a pair the first is larger than or equal to the second.
  const auto vector_of = [&](const MatrixXd& vectors) -> VectorXcd {
    if (values[index].imag() == 0.0) return vectors.col(index).cast<Z>();
    return vectors.col(index).cast<Z>() + Z(0.0, 1.0) * vectors.col(index + 1).cast<Z>();
  };
  const VectorXcd x = vector_of(right), y = vector_of(left);
  const double condition = x.norm() * y.norm() / std::abs(y.dot(x));
  const double round_off = std::numeric_limits<double>::epsilon() * matrix.norm();
  // Eigenvalues that cannot be told apart have no finite condition number; two of them split by the root.
  const double bound = std::sqrt(round_off * std::max(matrix.norm(), round_off));
  return {values[index], std::isfinite(condition) ? std::min(round_off * condition, bound) : bound,
          scale.asDiagonal() * x};
}

}  // namespace

Lu::Lu(MatrixXd matrix)
    : factors_(std::move(matrix)), rows_(static_cast<std::size_t>(factors_.rows())), is_singular_(false) {
  const int n = size_of(factors_.rows());
  int info = 0;
  if (n > 0) dgetrf_(&n, &n, factors_.data(), &n, rows_.data(), &info);
  is_singular_ = info > 0;
}

void Lu::solve(double* right, Index columns) const {
  const int n = size_of(factors_.rows()), count = size_of(columns);
  if (is_singular_) std::fill_n(right, factors_.rows() * columns, nan);
  int info = 0;
  if (n > 0 && !is_singular_) dgetrs_("N", &n, &count, factors_.data(), &n, rows_.data(), right, &n, &info, 1);
}

VectorXd Lu::solve(VectorXd right) const {
  solve(right.data(), 1);
  return right;
}

MatrixXd Lu::solve(MatrixXd right) const {
  solve(right.data(), right.cols());
  return right;
}

MatrixXd inverse(const MatrixXd& square) {
  return Lu(square).solve(MatrixXd(MatrixXd::Identity(square.rows(), square.cols())));
}

VectorXcd eigenvalues(const MatrixXd& square) { return general_eigen(square, nullptr, nullptr); }

RealEigen real_eigen(const MatrixXd& square) {
  RealEigen eigen;
  eigen.values = general_eigen(square, nullptr, &eigen.vectors);
  return eigen;
}

RealSchur real_schur(const MatrixXd& square) {
  const int n = size_of(square.rows());
  RealSchur schur{square, MatrixXd::Constant(n, n, nan)};
  VectorXd re(n), im(n);
  if (n == 0 || !square.allFinite()) return schur;
  with_memory<double>("the Schur form", [&](double* work, const int* count, int*, const int*, int* info) {
    int selected = 0;
    dgees_("V", "N", nullptr, &n, schur.t.data(), &n, &selected, re.data(), im.data(), schur.u.data(), &n, work, count,
           nullptr, info, 1, 1);
  });
  return schur;
}

double spectral_radius(const MatrixXd& matrix) { return eigenvalues(matrix).cwiseAbs().maxCoeff(); }

double spectral_abscissa(const MatrixXd& matrix) { return eigenvalues(matrix).real().maxCoeff(); }

double spectral_norm(const MatrixXd& matrix) {
  return std::sqrt(largest_symmetric_eigenvalue(product(matrix.transpose(), matrix)));
}

SymmetricEigen symmetric_eigen(const MatrixXd& matrix) { return symmetric(matrix, true); }

VectorXd symmetric_eigenvalues(const MatrixXd& matrix) { return symmetric(matrix, false).values; }

SymmetricEigen tridiagonal_eigen(const VectorXd& diagonal, const VectorXd& off_diagonal, bool with_vectors) {
  const int n = size_of(diagonal.size());
  SymmetricEigen eigen{diagonal, MatrixXd(with_vectors ? n : 0, with_vectors ? n : 0)};
  VectorXd beside(n);
  beside.head(off_diagonal.size()) = off_diagonal;
  if (!diagonal.allFinite() || !off_diagonal.allFinite()) {
    eigen.values.setConstant(nan);
    eigen.vectors.setConstant(nan);
  } else if (n > 0) {
    with_memory<double>("the eigenvalues",
                        [&](double* work, const int* count, int* iwork, const int* icount, int* info) {
                          dstevd_(with_vectors ? "V" : "N", &n, eigen.values.data(), beside.data(),
                                  eigen.vectors.data(), &n, work, count, iwork, icount, info, 1);
                        });
  }
  return eigen;
}

double largest_symmetric_eigenvalue(const MatrixXd& matrix) { return symmetric_eigenvalues(matrix).maxCoeff(); }

bool is_positive_definite(const MatrixXd& symmetric) {
  MatrixXd factor = symmetric;
  const int n = size_of(factor.rows());
  int info = factor.allFinite() ? 0 : 1;
  if (n > 0 && info == 0) dpotrf_("L", &n, factor.data(), &n, &info, 1);
  return info == 0;
}

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

SingularValues singular_values(const MatrixXd& matrix) {
  MatrixXd a = matrix;
  const int m = size_of(a.rows()), n = size_of(a.cols()), count = std::min(m, n);
  SingularValues svd{VectorXd::Constant(count, nan), MatrixXd::Constant(m, count, nan), {}};
  MatrixXd v_transposed = MatrixXd::Constant(count, n, nan);
  std::vector<int> integers(8 * static_cast<std::size_t>(count));
  if (a.allFinite() && count > 0) {
    with_memory<double>("the singular values", [&](double* work, const int* size, int*, const int*, int* info) {
      dgesdd_("S", &m, &n, a.data(), &m, svd.values.data(), svd.u.data(), &m, v_transposed.data(), &count, work, size,
              integers.data(), info, 1);
    });
  }
  svd.v = v_transposed.transpose();
  return svd;
}

VectorXd linear_least_squares(const MatrixXd& a, const VectorXd& b, double threshold) {
  const SingularValues svd = singular_values(a);
  VectorXd x = VectorXd::Zero(a.cols());
  for (Index i = 0; i < svd.values.size(); ++i) {
    if (svd.values[i] > threshold * svd.values[0]) x += svd.u.col(i).dot(b) / svd.values[i] * svd.v.col(i);
  }
  return x;
}

MatrixXd pseudo_inverse(const MatrixXd& matrix) {
  SingularValues svd = singular_values(matrix);
  for (Index i = 0; i < svd.values.size(); ++i) {
    svd.v.col(i) *= svd.values[i] > 1e-12 * svd.values[0] ? 1.0 / svd.values[i] : 0.0;
  }
  return product(svd.v, svd.u.transpose());
}

ReducedMap fit_linear_map(const MatrixXd& from, const MatrixXd& to, double threshold) {
  constexpr double round_off = 1e-12;
  const auto [sizes, u, v] = singular_values(from);
  Index rank = 0;
  while (rank < sizes.size() && sizes[rank] > std::max(threshold, round_off * sizes[0])) ++rank;
  ReducedMap map;
  map.basis = u.leftCols(rank);
  map.matrix =
      product(product(map.basis.transpose(), to), v.leftCols(rank)) * sizes.head(rank).cwiseInverse().asDiagonal();
  return map;
}

}  // namespace bathline
