// Newton's method for the stage equations of particles: without allocations for few unknowns, with a sparse matrix for
// many.
// Tested by tests/steppers/particle_stages_test.cpp.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "solve/snes_solver.hpp"

namespace bathline {

/// A matrix on the stack if its maximal size is known at compile time. Eigen requires row vectors to be row-major.
template <int Rows, int Columns, int MaxRows = Rows, int MaxColumns = Columns>
using BoundedMatrix =
    Eigen::Matrix<double, Rows, Columns, MaxRows == 1 && MaxColumns != 1 ? Eigen::RowMajor : Eigen::ColMajor, MaxRows,
                  MaxColumns>;

/// LU factors of Newton's matrix, for `Size` unknowns or, if that is Eigen::Dynamic, for at most `Max`, which may be
/// Dynamic as well.
template <int Size, int Max = Size>
class DenseLu {
 public:
  using Vector = BoundedMatrix<Size, 1, Max, 1>;
  using Matrix = BoundedMatrix<Size, Size, Max, Max>;
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
  /// By elimination with partial pivoting.
  void factor(const Matrix& matrix) {
    pivot_row_ = std::abs(matrix(1, 0)) > std::abs(matrix(0, 0)) ? 1 : 0;
    const int second = 1 - pivot_row_;
    inverse_ = 1.0 / matrix(pivot_row_, 0);
    multiplier_ = matrix(second, 0) * inverse_;
    upper_ = matrix(pivot_row_, 1);
    last_inverse_ = 1.0 / (matrix(second, 1) - multiplier_ * upper_);
  }
  Vector solve(const Vector& b) const {
    const double last = (b[1 - pivot_row_] - multiplier_ * b[pivot_row_]) * last_inverse_;
    return {(b[pivot_row_] - upper_ * last) * inverse_, last};
  }

 private:
  int pivot_row_ = 0;
  double inverse_ = 1.0, multiplier_ = 0.0, upper_ = 0.0, last_inverse_ = 1.0;
};

template <class Factors>
class NewtonSolver {
 public:
  using Vector = typename Factors::Vector;
  using Matrix = typename Factors::Matrix;

  explicit NewtonSolver(Eigen::Index size) : residual_(Vector::Zero(size)), correction_(residual_), start_(residual_) {}

  /// Fixed-point iteration with the masses in place of Newton's matrix, which needs no derivatives. It starts from `x`
  /// and leaves the solution there; the argument of the last call of `equations.evaluate(x, residual)` differs from it
  /// by round-off at most. Returns nothing, with `x` unchanged, where a correction is larger than `max_contraction`
  /// times the one before it. `equations.solve_with_masses(residual, correction)` computes a correction.
  template <class Equations>
  std::optional<SnesSolver::Report> iterate_fixed_point(Equations& equations, Vector& x, double max_contraction);

  /// Starts from `x` and leaves the solution there, which is the argument of the last call of `equations.evaluate(x,
  /// residual)`. `equations.linearise(x, matrix)` is called only after an evaluation at the same `x`;
  /// `equations.residual_tolerance()`, called once after both, is the round-off of the residual. The matrix is kept
  /// while residuals fall quickly. For linear equations, `is_linear`, it is constant and factored once; the argument of
  /// the last evaluation then differs from the solution by round-off where `equations.is_mass_dominated(matrix)` says
  /// that this changes no force.
  template <class Equations>
  SnesSolver::Report solve(Equations& equations, Vector& x, bool is_linear = false);
  /// The matrix of linear equations has changed.
  void invalidate_jacobian() { has_factors_ = false; }

 private:
  /// Solves linear equations by one correction and a second one that reduces its round-off. Returns nothing, with `x`
  /// unchanged, where the result is not finite.
  template <class Equations>
  std::optional<SnesSolver::Report> solve_linear(Equations& equations, Vector& x);
  /// Halves the correction until the residual decreases; false where it does not.
  template <class Equations>
  bool line_search(Equations& equations, Vector& x, double residual_tolerance);
  template <class Equations>
  void evaluate(Equations& equations, const Vector& x) {
    equations.evaluate(x, residual_);
    residual_norm_ = residual_.norm();
  }

  Vector residual_, correction_, start_;
  Matrix matrix_ = Factors::matrix(residual_.size());
  Factors factors_;
  double residual_norm_ = 0.0;
  bool has_factors_ = false;
  bool is_mass_dominated_ = false;  // as linear equations state of their matrix
};

template <class Factors>
template <class Equations>
std::optional<SnesSolver::Report> NewtonSolver<Factors>::iterate_fixed_point(Equations& equations, Vector& x,
                                                                             double max_contraction) {
  constexpr int max_iterations = 50;
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  SnesSolver::Report report;
  report.converged = true;
  start_ = x;
  const auto square = [](double y) { return y * y; };  // squared norms are compared
  double last = std::numeric_limits<double>::infinity();
  while (++report.iterations <= max_iterations) {
    equations.evaluate(x, residual_);
    equations.solve_with_masses(residual_, correction_);
    x -= correction_;
    const double size = correction_.squaredNorm(), scale = x.squaredNorm();
    // Small corrections that do not shrink any more are round-off.
    const bool shrinks = size <= square(max_contraction) * last;
    // The next correction, extrapolated from the contraction so far, would be below round-off.
    const bool next_is_negligible = report.iterations > 1 && size <= square(64.0 * epsilon) * scale &&
                                    size * size <= square(epsilon / 16.0) * scale * last;
    if (size <= square(4.0 * epsilon) * scale || next_is_negligible || (!shrinks && size <= square(1e-13) * scale)) {
      report.residual = residual_.norm();
      return report;
    }
    if (!shrinks) break;
    last = size;
  }
  x = start_;
  return std::nullopt;
}

template <class Factors>
template <class Equations>
std::optional<SnesSolver::Report> NewtonSolver<Factors>::solve_linear(Equations& equations, Vector& x) {
  SnesSolver::Report report;
  start_ = x;
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
  x = start_;
  return std::nullopt;
}

template <class Factors>
template <class Equations>
SnesSolver::Report NewtonSolver<Factors>::solve(Equations& equations, Vector& x, bool is_linear) {
  constexpr int max_iterations = 50;
  if (is_linear) {
    if (auto report = solve_linear(equations, x)) return *std::move(report);
  }
  SnesSolver::Report report;
  const auto stop = [&](const char* reason) {
    report.residual = residual_norm_;
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
  if (!std::isfinite(residual_norm_)) return stop("the force is not finite at the first guess");
  if (!has_factors_) renew();
  has_factors_ = is_linear;
  const double residual_tolerance = equations.residual_tolerance();
  while (++report.iterations <= max_iterations) {
    const double start = residual_norm_;
    correction_ = factors_.solve(residual_);
    if (!correction_.allFinite()) return stop("the matrix is singular");
    const bool is_small = correction_.norm() <= 1e-11 * x.norm();
    if (!line_search(equations, x, residual_tolerance)) {
      if (is_small) break;  // only round-off is left
      if (is_fresh) return stop("no correction makes the residual smaller");
      renew();
      continue;
    }
    if (residual_norm_ <= residual_tolerance) {
      // An iterate that just meets the tolerance leaves an error by which energies drift; one more correction costs
      // little.
      correction_ = factors_.solve(residual_);
      x -= correction_;
      evaluate(equations, x);
      break;
    }
    is_fresh = false;
    if (residual_norm_ > 1e-2 * start && !is_small) renew();
  }
  report.residual = residual_norm_;
  report.converged = report.iterations <= max_iterations && std::isfinite(residual_norm_);
  if (!report.converged) report.reason = "no convergence";
  return report;
}

template <class Factors>
template <class Equations>
bool NewtonSolver<Factors>::line_search(Equations& equations, Vector& x, double residual_tolerance) {
  const double start = residual_norm_;
  start_ = x;
  for (double fraction = 1.0; fraction > 1e-4; fraction *= 0.5) {
    x -= fraction * correction_;
    evaluate(equations, x);
    if (residual_norm_ < start || residual_norm_ <= residual_tolerance) return true;
    x = start_;
  }
  evaluate(equations, x);
  return false;
}

}  // namespace bathline
