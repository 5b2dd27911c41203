// Newton's method for a handful of unknowns: nothing is allocated and nothing is called but the equations.
#pragma once

#include <Eigen/Dense>
#include <cmath>

#include "solve/particle_newton.hpp"

namespace bathline {

/// A matrix that lies on the stack where its largest size is known. Eigen wants rows to lie as they are read.
template <int Rows, int Columns, int MostRows = Rows, int MostColumns = Columns>
using Bounded =
    Eigen::Matrix<double, Rows, Columns, MostRows == 1 && MostColumns != 1 ? Eigen::RowMajor : Eigen::ColMajor,
                  MostRows, MostColumns>;

/// The linear systems of Newton's method. Chains, whose matrices are banded, would do otherwise.
template <int Size, int Most = Size>
class DenseFactors {
 public:
  using Vector = Bounded<Size, 1, Most, 1>;
  using Matrix = Bounded<Size, Size, Most, Most>;
  void factor(const Matrix& matrix) { lu_.compute(matrix); }
  Vector solve(const Vector& b) const { return lu_.solve(b); }

 private:
  Eigen::PartialPivLU<Matrix> lu_;
};

template <>
class DenseFactors<1, 1> {
 public:
  using Vector = Bounded<1, 1>;
  void factor(const Vector& matrix) { divisor_ = matrix[0]; }
  Vector solve(const Vector& b) const { return b / divisor_; }

 private:
  double divisor_ = 1.0;
};

/// Of `Size` unknowns or, where that is Eigen::Dynamic, of at most `Most`, which may be Dynamic as well.
template <int Size, int Most = Size>
class SmallNewton {
 public:
  using Vector = Bounded<Size, 1, Most, 1>;
  using Matrix = Bounded<Size, Size, Most, Most>;

  explicit SmallNewton(Eigen::Index size)
      : residual_(Vector::Zero(size)), correction_(residual_), before_(residual_), matrix_(Matrix::Zero(size, size)) {}

  /// Starts from `x` and leaves the solution there, the last thing that `equations.evaluate(x, residual)` was called
  /// with. `equations.linearise(x, matrix)` comes only after an evaluation at the same place; `equations.roundoff()`,
  /// once after both, is what round-off does to the residual. While residuals fall quickly a matrix is kept; the first
  /// one is that of the last solution where `keeps_matrix` says that all are the same.
  template <class Equations>
  ParticleNewton::Report solve(Equations& equations, Vector& x, bool keeps_matrix = false);

 private:
  /// Goes along the correction as far as the residual gets smaller; false where it does nowhere.
  template <class Equations>
  bool descend(Equations& equations, Vector& x, double roundoff);
  template <class Equations>
  void evaluate(Equations& equations, const Vector& x) {
    equations.evaluate(x, residual_);
    size_ = residual_.norm();
  }

  Vector residual_, correction_, before_;
  Matrix matrix_;
  DenseFactors<Size, Most> factors_;
  double size_ = 0.0;  // of the residual
  bool has_factors_ = false;
};

template <int Size, int Most>
template <class Equations>
ParticleNewton::Report SmallNewton<Size, Most>::solve(Equations& equations, Vector& x, bool keeps_matrix) {
  constexpr int most_iterations = 50;
  ParticleNewton::Report report;
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
  has_factors_ = keeps_matrix;
  const double roundoff = equations.roundoff();
  while (++report.iterations <= most_iterations) {
    const double start = size_;
    correction_ = factors_.solve(residual_);
    if (!correction_.allFinite()) return stop("the matrix is singular");
    const bool is_small = correction_.norm() <= 1e-11 * x.norm();
    if (!descend(equations, x, roundoff)) {
      if (is_small) break;  // round-off is all that is left
      if (is_fresh) return stop("no correction makes the residual smaller");
      renew();
      continue;
    }
    if (size_ <= roundoff) {
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
  report.converged = report.iterations <= most_iterations && std::isfinite(size_);
  if (!report.converged) report.reason = "no convergence";
  return report;
}

template <int Size, int Most>
template <class Equations>
bool SmallNewton<Size, Most>::descend(Equations& equations, Vector& x, double roundoff) {
  const double start = size_;
  before_ = x;
  for (double part = 1.0; part > 1e-4; part *= 0.5) {
    x -= part * correction_;
    evaluate(equations, x);
    if (size_ < start || size_ <= roundoff) return true;
    x = before_;
  }
  evaluate(equations, x);
  return false;
}

}  // namespace bathline
