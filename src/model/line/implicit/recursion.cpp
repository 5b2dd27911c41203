// The recursion coefficients of an implicit step inside a uniform line.
// Tested by tests/model/line/implicit/block_stepper_test.cpp.
#include "model/line/implicit/recursion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/dense.hpp"

namespace bathline {

namespace {

/// The number of sites after which pole^sites is negligible; the maximum integer if there is none.
std::int64_t decay_length_of(double pole) {
  if (pole <= negligible_influence) return 1;
  // One more site, as the logarithm is rounded.
  const double sites = std::log(negligible_influence) / std::log(pole) + 1.0;
  return sites >= 1.0 && sites < 1e9 ? static_cast<std::int64_t>(std::ceil(sites))
                                     : std::numeric_limits<std::int64_t>::max();
}

// In extended precision, so that the coefficients are rounded only once.
using Real = long double;
using ComplexReal = std::complex<Real>;
using ComplexMatrix = Eigen::Matrix<ComplexReal, Eigen::Dynamic, Eigen::Dynamic>;
using ComplexVector = Eigen::Matrix<ComplexReal, Eigen::Dynamic, 1>;

ComplexVector times(const ComplexMatrix& matrix, const ComplexVector& x) {
  ComplexVector y = ComplexVector::Zero(matrix.rows());
  for (Eigen::Index j = 0; j < x.size(); ++j) y += x[j] * matrix.col(j);
  return y;
}

/// By Gauss and Jordan's elimination with row exchanges; not finite if the matrix is singular.
ComplexMatrix inverse_of(ComplexMatrix a) {
  const Eigen::Index n = a.rows();
  ComplexMatrix x = ComplexMatrix::Identity(n, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index pivot = k;
    for (Eigen::Index i = k + 1; i < n; ++i) pivot = std::abs(a(i, k)) > std::abs(a(pivot, k)) ? i : pivot;
    a.row(k).swap(a.row(pivot));
    x.row(k).swap(x.row(pivot));
    const ComplexReal factor = ComplexReal(1) / a(k, k);
    a.row(k) *= factor;
    x.row(k) *= factor;
    for (Eigen::Index i = 0; i < n; ++i) {
      const ComplexReal entry = a(i, k);
      if (i == k) continue;
      a.row(i) -= entry * a.row(k);
      x.row(i) -= entry * x.row(k);
    }
  }
  return x;
}

/// Refines an eigenvalue by inverse iteration, beside it by 1e-12 so that the matrix is not singular; returns the
/// eigenvector of norm 1.
ComplexVector refine(const ComplexMatrix& g, ComplexReal& eigenvalue) {
  const Eigen::Index n = g.rows();
  const ComplexReal shift = eigenvalue * Real(1 + 1e-12);
  const ComplexMatrix inverse = inverse_of(g - shift * ComplexMatrix::Identity(n, n));
  ComplexVector x = ComplexVector::LinSpaced(n, 1, 2).normalized(), y;
  for (int iteration = 0; iteration < 4; ++iteration) {
    y = times(inverse, x);
    eigenvalue = shift + ComplexReal(1) / x.dot(y);
    x = y / y.norm();
  }
  return x;
}

}  // namespace

std::optional<LineRecursion> LineRecursion::of(const LineConstants& line, const PartitionedRungeKutta& scheme,
                                               double step) {
  // Bound on the cancellation in the partial fractions.
  constexpr Real max_condition = 1e3;
  const ComplexMatrix a = scheme.a.cast<ComplexReal>(), a_hat = scheme.a_hat.cast<ComplexReal>();
  ComplexMatrix g(a.rows(), a.cols());
  for (Eigen::Index j = 0; j < a.cols(); ++j) g.col(j) = times(a_hat, a.col(j));
  if (!(g.norm() * inverse_of(g).norm() < max_condition)) return std::nullopt;
  const Eigen::VectorXcd rough = eigenvalues(g.real().cast<double>());
  std::vector<ComplexReal> eigenvalues(rough.begin(), rough.end());
  ComplexMatrix right(g.rows(), g.cols());
  for (Eigen::Index i = 0; i < g.cols(); ++i) right.col(i) = refine(g, eigenvalues[static_cast<std::size_t>(i)]);
  const ComplexMatrix left = inverse_of(right);
  if (!(right.norm() * left.norm() < max_condition)) return std::nullopt;
  const ComplexVector from_w = times(left, a_hat.rowwise().sum()), from_u = times(left, g.rowwise().sum());
  const ComplexVector b = scheme.b.cast<ComplexReal>();
  const ComplexVector to_w = times(right.transpose(), b), to_u = times(right.transpose(), times(a.transpose(), b));

  const Real h = step, mass = line.mass, stiffness = line.stiffness;
  const Real strength = h * h * stiffness / mass;
  LineRecursion result;
  result.drift = static_cast<double>(h / mass);
  result.impedance = std::sqrt(line.stiffness * line.mass);
  for (Eigen::Index i = 0; i < g.rows(); ++i) {
    const ComplexReal mu = eigenvalues[static_cast<std::size_t>(i)], one = 1;
    // One of each conjugate pair, that with the positive imaginary part.
    if (mu.imag() < 0) continue;
    // The recursions need a decay along the line.
    if (mu.imag() == 0 && !(mu.real() > 0)) return std::nullopt;
    if (!(max_condition * std::abs(from_w[i]) > std::abs(from_u[i]))) return std::nullopt;
    const ComplexReal c = strength * mu;
    const ComplexReal ratio = Real(2) / (one + Real(2) * c + std::sqrt(one + Real(4) * c));  // r/c
    const ComplexReal weight = (mu.imag() > 0 ? Real(2) : Real(1)) * ratio * from_w[i];
    LineRecursion::Mode mode{.pole = Complex(c * ratio),
                             .input_momentum_weight = Complex(from_u[i] / from_w[i] * (h / mass)),
                             .momentum_weight = Complex(weight * to_u[i] / mu * (h * stiffness)),
                             .displacement_weight = Complex(weight * to_w[i] * strength),
                             .stage_weights = {},
                             .velocity_weights = {}};
    for (Eigen::Index stage = 0; stage < g.rows(); ++stage) {
      mode.stage_weights.emplace_back(-weight * right(stage, i) * (h * stiffness));
      mode.velocity_weights.emplace_back(-left(i, stage) / (ratio * from_w[i]) * (h / strength));
    }
    (mu.imag() > 0 ? result.pairs : result.singles).push_back(std::move(mode));
  }
  return result;
}

void LineRecursion::step(std::span<double> w, std::span<double> p) const {
  const std::size_t n = w.size();
  std::vector<double> kicks(n), displacements(n), re(n), im(n);
  for (const std::vector<Mode>* modes : {&pairs, &singles}) {
    for (const Mode& mode : *modes) {
      const double r = mode.pole.real(), i = mode.pole.imag();
      const Complex input_momentum_weight = mode.input_momentum_weight, momentum_weight = mode.momentum_weight,
                    displacement_weight = mode.displacement_weight;
      for (std::size_t j = 1; j < n; ++j) {
        const double dw = w[j] - w[j - 1], dp = p[j] - p[j - 1];
        re[j] = r * re[j - 1] - i * im[j - 1] + (dw + input_momentum_weight.real() * dp);
        im[j] = r * im[j - 1] + i * re[j - 1] + input_momentum_weight.imag() * dp;
      }
      double z_re = 0.0, z_im = 0.0, behind_re = 0.0, behind_im = 0.0;
      for (std::size_t j = n; j-- > 0;) {
        const double next_re = r * z_re - i * z_im + (re[j] - behind_re);
        z_im = r * z_im + i * z_re + (im[j] - behind_im);
        z_re = next_re;
        behind_re = re[j];
        behind_im = im[j];
        kicks[j] += momentum_weight.real() * z_re - momentum_weight.imag() * z_im;
        displacements[j] += displacement_weight.real() * z_re - displacement_weight.imag() * z_im;
      }
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    w[j] += drift * p[j] - displacements[j];
    p[j] -= kicks[j];
  }
}

std::int64_t LineRecursion::decay_length() const {
  std::int64_t sites = 1;
  for (const std::vector<Mode>* modes : {&pairs, &singles}) {
    for (const Mode& mode : *modes) sites = std::max(sites, decay_length_of(std::abs(mode.pole)));
  }
  return sites;
}

}  // namespace bathline
