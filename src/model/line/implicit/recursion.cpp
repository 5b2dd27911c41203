// The recursion coefficients of an implicit step inside a uniform line.
// Tested by tests/model/line/implicit/block_stepper_test.cpp.
#include "model/line/implicit/recursion.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

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

}  // namespace

std::optional<LineRecursion> LineRecursion::of(const LineConstants& line, const PartitionedRungeKutta& scheme,
                                               double step) {
  // In extended precision, so that the coefficients are rounded only once.
  using Real = long double;
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  using ComplexMatrix = Eigen::Matrix<std::complex<Real>, Eigen::Dynamic, Eigen::Dynamic>;
  using ComplexVector = Eigen::Matrix<std::complex<Real>, Eigen::Dynamic, 1>;
  // Bound on the cancellation in the partial fractions.
  constexpr Real max_condition = 1e3;
  const Matrix a = scheme.a.cast<Real>(), a_hat = scheme.a_hat.cast<Real>();
  const Eigen::Matrix<Real, Eigen::Dynamic, 1> b = scheme.b.cast<Real>();
  const Matrix g = a_hat * a;
  if (!(g.norm() * Matrix(g.inverse()).norm() < max_condition)) return std::nullopt;
  const Eigen::EigenSolver<Matrix> eigen(g);
  const ComplexMatrix right = eigen.eigenvectors(), left = right.inverse();
  if (!(right.norm() * left.norm() < max_condition)) return std::nullopt;
  const ComplexVector from_w = left * a_hat.rowwise().sum().cast<std::complex<Real>>();
  const ComplexVector from_u = left * g.rowwise().sum().cast<std::complex<Real>>();
  const ComplexVector to_w = right.transpose() * b.cast<std::complex<Real>>();
  const ComplexVector to_u = right.transpose() * (a.transpose() * b).cast<std::complex<Real>>();

  const Real h = step, mass = line.mass, stiffness = line.stiffness;
  const Real strength = h * h * stiffness / mass;
  LineRecursion result;
  result.drift = static_cast<double>(h / mass);
  result.impedance = std::sqrt(line.stiffness * line.mass);
  for (Eigen::Index i = 0; i < g.rows(); ++i) {
    const std::complex<Real> mu = eigen.eigenvalues()[i], one = 1;
    // One of each conjugate pair, that with the positive imaginary part.
    if (mu.imag() < 0) continue;
    // The recursions need a decay along the line.
    if (mu.imag() == 0 && !(mu.real() > 0)) return std::nullopt;
    if (!(max_condition * std::abs(from_w[i]) > std::abs(from_u[i]))) return std::nullopt;
    const std::complex<Real> c = strength * mu;
    const std::complex<Real> ratio = Real(2) / (one + Real(2) * c + std::sqrt(one + Real(4) * c));  // r/c
    const std::complex<Real> weight = (mu.imag() > 0 ? Real(2) : Real(1)) * ratio * from_w[i];
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
