// Kernels as sums of decaying exponentials, and the quadrature that gives these.
#pragma once

#include <complex>
#include <limits>
#include <vector>

namespace bathline {

/// The term Re weight exp(t (offset + i angle)) of a kernel; t is a number of steps or a time.
struct ExponentialTerm {
  double angle;                 ///< of its branch point, an edge of the line's band
  std::complex<double> offset;  ///< from there, without cancellation close to the branch point
  std::complex<double> weight;

  std::complex<double> exponent() const { return offset + std::complex<double>(0.0, angle); }
};

/// How accurately, and how long, a sum of exponentials has to approximate a kernel.
struct KernelAccuracy {
  static constexpr double forever = std::numeric_limits<double>::infinity();
  double error = 1e-12;  ///< sum of kernel errors up to the horizon; for `forever`, largest error of the transform
  double horizon = 1e6;  ///< in units of t
  bool is_forever() const { return horizon == forever; }
};

/// A node and its weight of a quadrature for the integral of sqrt(x) exp(-n x) B(x) over x > 0, n >= lag, B smooth.
struct BranchCutNode {
  double x;
  double weight;
};

/// The trapezoidal rule in a variable that accumulates the nodes at 0: x = exp(t - exp(-t)) / horizon for a finite
/// horizon, and steps of ln x that grow towards 0 for `forever`. `courant` is the Courant number of the line; B grows
/// as 1/courant^2.
std::vector<BranchCutNode> branch_cut_quadrature(double courant, int lag, const KernelAccuracy& accuracy);

/// exp(x) - 1 without cancellation.
std::complex<double> expm1(std::complex<double> x);

}  // namespace bathline
