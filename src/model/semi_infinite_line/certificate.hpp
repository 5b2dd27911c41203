// The accuracy of a sum of exponentials, evaluated a posteriori.
//
// At first every value is compared with the recurrence of Legendre polynomials or with Bessel's function; once their
// asymptotic series are accurate to round-off, the slowly varying amplitudes are compared on a logarithmic grid up to
// the horizon. The computation is in double precision, not in interval arithmetic.
#pragma once

#include <vector>

#include "model/semi_infinite_line/discrete_kernel.hpp"

namespace bathline {

/// For F = -lambda (kernel * motion of the head). Transforms are taken on the unit circle, or on the imaginary axis.
struct KernelCertificate {
  int exponentials = 0;
  double horizon = 0.0;        ///< time until which `error` holds, in steps or units of sqrt(M/lambda)
  double norm = 0.0;           ///< sum of the kernel's absolute values up to the horizon
  double error = 0.0;          ///< sum of the absolute errors up to the horizon, over the norm
  double uniform_error = 0.0;  ///< largest error of the transform, over the norm
  double lowest = 0.0;         ///< most negative real part of the transform, as a fraction of D; 0 if passive
  double damper = 0.0;         ///< damper that makes it passive, as a fraction of D; if added, it is part of the errors
};

/// For a sum that approximates K, without a damper.
KernelCertificate certify(const DiscreteLine& line, const DiscreteKernel& kernel, double horizon);
/// For a sum that approximates J_1(2 t)/t.
KernelCertificate certify_bessel(const std::vector<ExponentialTerm>& exponential_terms, double horizon);

/// A kernel that meets a tolerance as far as double precision allows, with its certificate.
struct LineKernel {
  DiscreteKernel on_stage;       ///< K, with the damper
  DiscreteKernel between_steps;  ///< kernel of the spring's force between two steps: L(z) = K(z) / (g + (1-g) z)
  KernelCertificate certificate;
};
/// `tolerance` bounds `error`; with the horizon `forever` also `uniform_error`, and `error` is up to `run`.
LineKernel make_line_kernel(const DiscreteLine& line, double tolerance, double horizon, double run);

struct BesselKernel {
  std::vector<ExponentialTerm> exponential_terms;
  double damper = 0.0;  ///< to be added, in units of lambda sqrt(M/lambda)
  KernelCertificate certificate;
};
BesselKernel make_bessel_kernel(double tolerance, double horizon, double run);

}  // namespace bathline
