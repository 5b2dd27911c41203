// How good a sum of exponentials is: measured, not assumed.
//
// Over the first steps, or the first of time, every value is compared with the recurrence of Legendre polynomials, or
// with Bessel's function; from where their asymptotic series give all digits, the slowly changing amplitudes are, on a
// logarithmic grid until the horizon. All is computed in double precision, not in intervals.
#pragma once

#include <vector>

#include "model/semi_infinite_line/discrete_kernel.hpp"

namespace bathline {

/// Of F = -lambda (kernel * motion of the head). Transforms are on the unit circle, or on the imaginary axis.
struct KernelCertificate {
  int exponentials = 0;
  double horizon = 0.0;        ///< until when `error` holds, in steps, or in units of sqrt(M/lambda)
  double norm = 0.0;           ///< sum of the kernel's absolute values until then
  double error = 0.0;          ///< sum of its errors' absolute values until then, over the norm
  double uniform_error = 0.0;  ///< largest error of the transform, over the norm
  double lowest = 0.0;  ///< the most negative real part of the transform, as a fraction of D; a passive line has 0
  double damper = 0.0;  ///< that mends it, as a fraction of D; where it is added it counts among the errors
};

/// Of a sum that stands for K. Without a damper.
KernelCertificate certify(const DiscreteLine& line, const DiscreteKernel& kernel, double horizon);
/// Of one that stands for J_1(2 t)/t.
KernelCertificate certify_bessel(const std::vector<ExponentialTerm>& exponential_terms, double horizon);

/// A kernel that keeps what was asked for, as far as double precision lets it, and what is known of it.
struct LineKernel {
  DiscreteKernel on_stage;       ///< K, with the damper
  DiscreteKernel between_steps;  ///< of the spring's force between two steps: L(z) = K(z) / (g + (1-g) z)
  KernelCertificate certificate;
};
/// `tolerance` is that of `error`; with the horizon `forever`, of `uniform_error` as well, and `error` is until `run`.
LineKernel make_line_kernel(const DiscreteLine& line, double tolerance, double horizon, double run);

struct BesselKernel {
  std::vector<ExponentialTerm> exponential_terms;
  double damper = 0.0;  ///< to be added, in units of lambda sqrt(M/lambda)
  KernelCertificate certificate;
};
BesselKernel make_bessel_kernel(double tolerance, double horizon, double run);

}  // namespace bathline
