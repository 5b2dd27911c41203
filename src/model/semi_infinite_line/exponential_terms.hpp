// Kernels as sums of decaying exponentials, and where these lie.
#pragma once

#include <complex>
#include <limits>
#include <vector>

namespace bathline {

/// The share Re weight exp(t (offset + i angle)) of a kernel; t counts steps or is a time.
struct ExponentialTerm {
  double angle;                 ///< of the branch point that it belongs to: an edge of the line's band
  std::complex<double> offset;  ///< from there, so that what is next to it is known to all digits
  std::complex<double> weight;

  std::complex<double> exponent() const { return offset + std::complex<double>(0.0, angle); }
};

/// How well, and for how long, a sum of exponentials has to stand for a kernel.
struct KernelAccuracy {
  static constexpr double forever = std::numeric_limits<double>::infinity();
  double error = 1e-12;  ///< of the kernel, summed up until the horizon; for ever: largest error of its transform
  double horizon = 1e6;  ///< in units of t
  bool is_for_ever() const { return horizon == forever; }
};

/// A node and a weight of a rule for the integral of sqrt(x) exp(-n x) B(x) from 0 to infinity, n >= lag, B smooth.
struct BranchCutNode {
  double x;
  double weight;
};

/// The trapezoidal rule in a variable in which the nodes crowd towards 0: until the horizon x = exp(t - exp(-t)) /
/// horizon, for ever by steps of ln x that grow towards 0. `courant` is the Courant number of the line with which B
/// grows as 1/courant^2.
std::vector<BranchCutNode> branch_cut_quadrature(double courant, int lag, const KernelAccuracy& accuracy);

/// exp(x) - 1 without cancellation.
std::complex<double> expm1(std::complex<double> x);

}  // namespace bathline
