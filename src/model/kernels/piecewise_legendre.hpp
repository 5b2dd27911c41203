// Fourier integrals at any frequency, and transforms of kernels, from panels that resolve only the function itself.
//
//   integral_{-1}^{1} P_k(x) exp(-i y x) dx = 2 (-i)^k j_k(y)
//
// with j_k the spherical Bessel functions. Source: DLMF 18.17.19 and 10.51.1.
#pragma once

#include <complex>
#include <functional>
#include <vector>

#include "model/kernels/adaptive_quadrature.hpp"

namespace bathline {

/// A function as a series of Legendre polynomials on each panel.
class PiecewiseLegendre {
 public:
  PiecewiseLegendre(const std::function<double(double)>& f, const std::vector<Panel>& panels);

  /// integral f(x) exp(-i y x) dx over all panels, y >= 0.
  std::complex<double> fourier(double y) const;

 private:
  struct Part {
    double middle, half;
    Eigen::VectorXd values;        ///< at the nodes, times the quadrature weights
    Eigen::VectorXd coefficients;  ///< of the polynomials, times the factor 2 of the integral
  };
  std::vector<Part> parts_;
};

/// integral f(x) s/(s^2 + x^2) dx over all panels, Re s > 0, Im s >= 0; panels too close to s are bisected.
std::complex<double> laplace_transform(const std::function<double(double)>& f, const std::vector<Panel>& panels,
                                       std::complex<double> s);

}  // namespace bathline
