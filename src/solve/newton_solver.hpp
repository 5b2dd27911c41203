// Newton's method for particles: for a handful of unknowns nothing is allocated and nothing is called but the
// equations, for many the matrix is sparse.
// Tested by tests/steppers/particle_stages_test.cpp.
#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseLU>
#include <cmath>
#include <limits>
#include <optional>

#include "solve/snes_solver.hpp"

namespace bathline {

/// A matrix that lies on the stack where its largest size is known. Eigen wants rows to lie as they are read.
template <int Rows, int Columns, int MostRows = Rows, int MostColumns = Columns>
using BoundedMatrix =
    Eigen::Matrix<double, Rows, Columns, MostRows == 1 && MostColumns != 1 ? Eigen::RowMajor : Eigen::ColMajor,
                  MostRows, MostColumns>;

/// The linear systems of Newton's method, of `Size` unknowns or, where that is Eigen::Dynamic, of at most `Most`, which
/// may be Dynamic as well.
template <int Size, int Most = Size>
class DenseLu {
 public:
  using Vector = BoundedMatrix<Size, 1, Most, 1>;
  using Matrix = BoundedMatrix<Size, Size, Most, Most>;
  static Matrix matrix(Eigen::Index size) { return Matrix::Zero(size, size); }
  void factor(const Matrix& matrix) { lu_.compute(matrix); }
  Vector solve(const Vector& b) const { return lu_.solve(b); }

 private:
  Eigen::PartialPivLU<Matrix> lu_;
};

template <>
class DenseLu<1, 1> {
 public:
  using Vector = BoundedMatrix<1, 1>;
  using Matrix = Vector;
  static Matrix matrix(Eigen::Index) { return Matrix::Zero(); }
  void factor(const Vector& matrix) { divisor_ = matrix[0]; }
  Vector solve(const Vector& b) const { return b / divisor_; }

 private:
  double divisor_ = 1.0;
};

template <>
class DenseLu<2, 2> {
 public:
  using Vector = BoundedMatrix<2, 1>;
  using Matrix = BoundedMatrix<2, 2>;
  static Matrix matrix(Eigen::Index) { return Matrix::Zero(); }
  /// By elimination from the row with the larger number in front.
  void factor(const Matrix& matrix) {
    first_ = std::abs(matrix(1, 0)) > std::abs(matrix(0, 0)) ? 1 : 0;
    const int second = 1 - first_;
    inverse_ = 1.0 / matrix(first_, 0);
    part_ = matrix(second, 0) * inverse_;
    upper_ = matrix(first_, 1);
    last_inverse_ = 1.0 / (matrix(second, 1) - part_ * upper_);
  }
  Vector solve(const Vector& b) const {
    const double last = (b[1 - first_] - part_ * b[first_]) * last_inverse_;
    return {(b[first_] - upper_ * last) * inverse_, last};
  }

 private:
  int first_ = 0;
  double inverse_ = 1.0, part_ = 0.0, upper_ = 0.0, last_inverse_ = 1.0;
};

/// Where each unknown feels few others, as in a chain; the matrices have the same entries all the time.
class SparseLu {
 public:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::SparseMatrix<double>;
  static Matrix matrix(Eigen::Index size) { return Matrix(size, size); }
  void factor(const Matrix& matrix) {
    if (!is_ordered_) lu_.analyzePattern(matrix);
    is_ordered_ = true;
    lu_.factorize(matrix);
  }
  /// No numbers where the matrix is singular.
  Vector solve(const Vector& b) const {
    if (lu_.info() == Eigen::Success) return lu_.solve(b);
    return Vector::Constant(b.size(), std::numeric_limits<double>::quiet_NaN());
  }

 private:
  Eigen::SparseLU<Matrix> lu_;
  bool is_ordered_ = false;
};

template <class Factors>
class NewtonSolver {
 public:
  using Vector = typename Factors::Vector;
  using Matrix = typename Factors::Matrix;

  explicit NewtonSolver(Eigen::Index size)
      : residual_(Vector::Zero(size)), correction_(residual_), before_(residual_) {}

  /// Iterates with the masses in place of the matrix, which needs no derivatives, from `x` to the solution, which is
  /// left there; the last thing that `equations.evaluate(x, residual)` was called with differs from it by round-off at
  /// most. Nothing, and `x` as it was, where the corrections do not shrink to the `max_contraction` part of those
  /// before them. `equations.solve_with_masses(residual, correction)` makes a correction.
  template <class Equations>
  std::optional<SnesSolver::Report> iterate_fixed_point(Equations& equations, Vector& x, double max_contraction);

  /// Starts from `x` and leaves the solution there, the last thing that `equations.evaluate(x, residual)` was called
  /// with. `equations.linearise(x, matrix)` comes only after an evaluation at the same place;
  /// `equations.residual_tolerance()`, once after both, is what round-off does to the residual. While residuals fall
  /// quickly a matrix is kept; where `is_linear` says that all are the same, the equations being linear, it is made
  /// once; the last evaluation then differs from the solution by round-off where `equations.is_mass_dominated(matrix)`
  /// says that this changes no force.
  template <class Equations>
  SnesSolver::Report solve(Equations& equations, Vector& x, bool is_linear = false);
  /// Equations that were linear with one matrix go on with another.
  void invalidate_jacobian() { has_factors_ = false; }

 private:
  /// Equations that are linear are solved by one correction, and the next one mends its round-off. Nothing, and `x` as
  /// it was, where that gives no numbers.
  template <class Equations>
  std::optional<SnesSolver::Report> solve_linear(Equations& equations, Vector& x);
  /// Goes along the correction as far as the residual gets smaller; false where it does nowhere.
  template <class Equations>
  bool line_search(Equations& equations, Vector& x, double residual_tolerance);
  template <class Equations>
  void evaluate(Equations& equations, const Vector& x) {
    equations.evaluate(x, residual_);
    size_ = residual_.norm();
  }

  Vector residual_, correction_, before_;
  Matrix matrix_ = Factors::matrix(residual_.size());
  Factors factors_;
  double size_ = 0.0;  // of the residual
  bool has_factors_ = false;
  bool is_mass_dominated_ = false;  // as equations that are linear say of their matrix
};

template <class Factors>
template <class Equations>
std::optional<SnesSolver::Report> NewtonSolver<Factors>::iterate_fixed_point(Equations& equations, Vector& x,
                                                                             double max_contraction) {
  constexpr int max_iterations = 50;
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  SnesSolver::Report report;
  report.converged = true;
  before_ = x;
  const auto square = [](double y) { return y * y; };  // norms are compared without their roots
  double last = std::numeric_limits<double>::infinity();
  while (++report.iterations <= max_iterations) {
    equations.evaluate(x, residual_);
    equations.solve_with_masses(residual_, correction_);
    x -= correction_;
    const double size = correction_.squaredNorm(), scale = x.squaredNorm();
    // Where corrections shrink so slowly that late, round-off is all that is left of them.
    const bool shrinks = size <= square(max_contraction) * last;
    // A correction of some last places needs no other behind it that, as they shrink, would be nothing beside these.
    const bool next_is_nothing = report.iterations > 1 && size <= square(64.0 * epsilon) * scale &&
                                 size * size <= square(epsilon / 16.0) * scale * last;
    if (size <= square(4.0 * epsilon) * scale || next_is_nothing || (!shrinks && size <= square(1e-13) * scale)) {
      report.residual = residual_.norm();
      return report;
    }
    if (!shrinks) break;
    last = size;
  }
  x = before_;
  return std::nullopt;
}

template <class Factors>
template <class Equations>
std::optional<SnesSolver::Report> NewtonSolver<Factors>::solve_linear(Equations& equations, Vector& x) {
  SnesSolver::Report report;
  before_ = x;
  equations.evaluate(x, residual_);
  if (!has_factors_) {
    equations.linearise(x, matrix_);
    factors_.factor(matrix_);
    is_mass_dominated_ = equations.is_mass_dominated(matrix_);
    has_factors_ = true;
  }
  x -= factors_.solve(residual_);
  equations.evaluate(x, residual_);
  x -= factors_.solve(residual_);
  if (!is_mass_dominated_) equations.evaluate(x, residual_);
  report.iterations = 2;
  report.residual = residual_.norm();
  report.converged = std::isfinite(report.residual);
  if (report.converged) return report;
  x = before_;
  return std::nullopt;
}

template <class Factors>
template <class Equations>
SnesSolver::Report NewtonSolver<Factors>::solve(Equations& equations, Vector& x, bool is_linear) {
  constexpr int max_iterations = 50;
  if (is_linear) {
    if (const auto report = solve_linear(equations, x)) return *report;
  }
  SnesSolver::Report report;
  const auto stop = [&](const char* reason) {
    report.residual = size_;
    report.reason = reason;
    return report;
  };
  bool is_fresh = false;  // whether the factors belong to x
  const auto renew = [&] {
    equations.linearise(x, matrix_);
    factors_.factor(matrix_);
    is_fresh = true;
  };
  evaluate(equations, x);
  if (!std::isfinite(size_)) return stop("the force is not finite at the first guess");
  if (!has_factors_) renew();
  has_factors_ = is_linear;
  const double residual_tolerance = equations.residual_tolerance();
  while (++report.iterations <= max_iterations) {
    const double start = size_;
    correction_ = factors_.solve(residual_);
    if (!correction_.allFinite()) return stop("the matrix is singular");
    const bool is_small = correction_.norm() <= 1e-11 * x.norm();
    if (!line_search(equations, x, residual_tolerance)) {
      if (is_small) break;  // round-off is all that is left
      if (is_fresh) return stop("no correction makes the residual smaller");
      renew();
      continue;
    }
    if (size_ <= residual_tolerance) {
      // An iterate that just passes lets energies drift by what it leaves; the next one costs little.
      correction_ = factors_.solve(residual_);
      x -= correction_;
      evaluate(equations, x);
      break;
    }
    is_fresh = false;
    if (size_ > 1e-2 * start && !is_small) renew();
  }
  report.residual = size_;
  report.converged = report.iterations <= max_iterations && std::isfinite(size_);
  if (!report.converged) report.reason = "no convergence";
  return report;
}

template <class Factors>
template <class Equations>
bool NewtonSolver<Factors>::line_search(Equations& equations, Vector& x, double residual_tolerance) {
  const double start = size_;
  before_ = x;
  for (double part = 1.0; part > 1e-4; part *= 0.5) {
    x -= part * correction_;
    evaluate(equations, x);
    if (size_ < start || size_ <= residual_tolerance) return true;
    x = before_;
  }
  evaluate(equations, x);
  return false;
}

}  // namespace bathline
