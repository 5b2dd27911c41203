// The memory of the semi-infinite line under one-stage integrators: a kernel over steps.
//
//   F^k = -lambda sum_{n >= 0} K_n D^{k-n},   D^k = h V^k the head's displacement in step k
//
// With V = (1-g) v + g v+ we have K(z) = G(z) / ((1-g) + g z), F^k = -lambda h sum_{n >= -1} G_n v^{k-n},
//
//   G(z) = [s R(z) - (z - 1)] / (2 c^2),   R = sqrt(z^2 - 2 x z + 1),   c = h sqrt(lambda/M),
//   s^2 = 1 + 4 g (1-g) c^2,   c_e = c/s,   x = 1 - 2 c_e^2 = cos theta,
//
// for every g in [0, 1]. With V the initial velocity of the head does not enter. Beyond a few lags R is evaluated with
// radial branch cuts from the band edges to 0, and the integrals along the cuts become sums of exponentials by
// quadrature.
// Source: farshi2018, eqs. (45) and (65), extended here to every step; the sums are ours.
#pragma once

#include <vector>

#include "model/semi_infinite_line/exponential_terms.hpp"

namespace bathline {

/// A line under the gamma scheme with a given step.
struct DiscreteLine {
  DiscreteLine(double courant, double gamma);

  double courant;  ///< h sqrt(lambda/M)
  double gamma;
  double courant_correction;  ///< s
  double effective_courant;   ///< c_e; the scheme is stable up to 1, where the kernel has only two terms
  double angle;               ///< theta; NaN beyond the stability limit
  bool is_finite;             ///< whether c_e is 1, to round-off

  /// 1 - exp(2 i theta).
  std::complex<double> gap() const;
};

/// n -> K_n: the first values directly, the others as a sum of exponentials of n - first.size().
struct DiscreteKernel {
  std::vector<double> first;
  std::vector<ExponentialTerm> exponential_terms;

  int lag() const { return static_cast<int>(first.size()); }
};

/// G_{-1}, G_0, ... G_{count - 2} by the recurrence of Legendre polynomials.
std::vector<double> exact_line_kernel(const DiscreteLine& line, int count);
/// G without G_{-1}.
DiscreteKernel compressed_line_kernel(const DiscreteLine& line, const KernelAccuracy& accuracy);

/// G_{-1}, G_0, ... of velocities v, for the kernel of stage velocities V = (1-g) v + g v+.
DiscreteKernel velocity_kernel(const DiscreteLine& line, const DiscreteKernel& kernel);
/// sum_n K_n z^{ahead - n} at z = exp(i t), t = angle + distance, accurate to round-off also close to the branch point
/// `angle`.
std::complex<double> transform(const DiscreteKernel& kernel, int ahead, double angle, double distance);

/// The solution T of alpha T_n + beta T_{n+1} = S_n with T_0 = `start`, alpha, beta >= 0: the series of S(z)/(alpha +
/// beta z), where the series of S begins with beta T_0 z. It has as many first values as S, or one more.
DiscreteKernel divide_series(const DiscreteKernel& series, double alpha, double beta, double start);

}  // namespace bathline
