// The numbers of a step with several stages inside a uniform line.
#include "model/line/implicit/stage_recursion.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>

#include "model/line/implicit/stage_tile.hpp"

namespace bathline {

std::optional<StageRecursion> StageRecursion::of(const LineStageStep& step) {
  // In extended precision, so that nothing but the rounding of the numbers themselves is systematic.
  using Real = long double;
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  using ComplexMatrix = Eigen::Matrix<std::complex<Real>, Eigen::Dynamic, Eigen::Dynamic>;
  using ComplexVector = Eigen::Matrix<std::complex<Real>, Eigen::Dynamic, 1>;
  // Terms of the sum may exceed the sum by no more than that.
  constexpr Real worst_condition = 1e3;
  const Matrix a = step.scheme.a.cast<Real>(), a_hat = step.scheme.a_hat.cast<Real>();
  const Eigen::Matrix<Real, Eigen::Dynamic, 1> b = step.scheme.b.cast<Real>();
  const Matrix g = a_hat * a;
  if (!(g.norm() * Matrix(g.inverse()).norm() < worst_condition)) return std::nullopt;
  const Eigen::EigenSolver<Matrix> eigen(g);
  const ComplexMatrix right = eigen.eigenvectors(), left = right.inverse();
  if (!(right.norm() * left.norm() < worst_condition)) return std::nullopt;
  const ComplexVector from_w = left * a_hat.rowwise().sum().cast<std::complex<Real>>();
  const ComplexVector from_u = left * g.rowwise().sum().cast<std::complex<Real>>();
  const ComplexVector to_w = right.transpose() * b.cast<std::complex<Real>>();
  const ComplexVector to_u = right.transpose() * (a.transpose() * b).cast<std::complex<Real>>();

  const Real h = step.h, mass = step.line.mass, stiffness = step.line.stiffness;
  const Real strength = h * h * stiffness / mass;
  StageRecursion result;
  result.drift = static_cast<double>(h / mass);
  result.impedance = std::sqrt(step.line.stiffness * step.line.mass);
  for (Eigen::Index i = 0; i < g.rows(); ++i) {
    const std::complex<Real> mu = eigen.eigenvalues()[i], one = 1;
    // Of a pair the one with the positive imaginary part.
    if (mu.imag() < 0) continue;
    if (!(worst_condition * std::abs(from_w[i]) > std::abs(from_u[i]))) return std::nullopt;
    const std::complex<Real> c = strength * mu;
    const std::complex<Real> ratio = Real(2) / (one + Real(2) * c + std::sqrt(one + Real(4) * c));  // r/c
    const std::complex<Real> weight = (mu.imag() > 0 ? Real(2) : Real(1)) * ratio * from_w[i];
    (mu.imag() > 0 ? result.pairs : result.singles)
        .push_back({.decay = Complex(c * ratio),
                    .lead = Complex(from_u[i] / from_w[i] * (h / mass)),
                    .kick = Complex(weight * to_u[i] / mu * (h * stiffness)),
                    .slip = Complex(weight * to_w[i] * strength)});
  }
  if (!LineStageTile::serves(result)) return std::nullopt;
  return result;
}

void StageRecursion::step(std::vector<double>& w, std::vector<double>& p) const {
  const std::size_t n = w.size();
  std::vector<double> kicks(n), slips(n), re(n), im(n);
  for (const std::vector<Mode>* modes : {&pairs, &singles}) {
    for (const auto& [decay, lead, kick, slip] : *modes) {
      const double r = decay.real(), i = decay.imag();
      for (std::size_t j = 1; j < n; ++j) {
        const double dw = w[j] - w[j - 1], dp = p[j] - p[j - 1];
        re[j] = r * re[j - 1] - i * im[j - 1] + (dw + lead.real() * dp);
        im[j] = r * im[j - 1] + i * re[j - 1] + lead.imag() * dp;
      }
      double z_re = 0.0, z_im = 0.0, behind_re = 0.0, behind_im = 0.0;
      for (std::size_t j = n; j-- > 0;) {
        const double next_re = r * z_re - i * z_im + (re[j] - behind_re);
        z_im = r * z_im + i * z_re + (im[j] - behind_im);
        z_re = next_re;
        behind_re = re[j];
        behind_im = im[j];
        kicks[j] += kick.real() * z_re - kick.imag() * z_im;
        slips[j] += slip.real() * z_re - slip.imag() * z_im;
      }
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    w[j] += drift * p[j] - slips[j];
    p[j] -= kicks[j];
  }
}

std::int64_t StageRecursion::memory() const {
  std::int64_t sites = 1;
  for (const std::vector<Mode>* modes : {&pairs, &singles}) {
    for (const Mode& mode : *modes) sites = std::max(sites, sites_of_influence(std::abs(mode.decay)));
  }
  return sites;
}

ImplicitReach cheapest_reach(const StageRecursion& recursion, std::int64_t limit) {
  return cheapest_reach_in_tiles<LineStageTile>(recursion, limit);
}

}  // namespace bathline
