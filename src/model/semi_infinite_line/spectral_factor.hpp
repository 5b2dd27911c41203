// The random force of a line in equilibrium on a clamped head, as filtered white noise.
//
//   C_n + C_{n+1} = 2 kT lambda G_n  (n = 0: G_0 + G_{-1}),   C_n = <R^k R^{k+n}>
//
// holds for a line drawn from the Gibbs distribution of the integrator itself, for every member of the gamma family.
// For a mode of the line with stiffness kappa over its mass this distribution is, with eta = (1/2 - g) h and beta = g
// (1-g),
//
//   exp(-((1 - eta^2 kappa) v^2 + kappa (q + eta v)^2)/2kT),
//
// which exists as long as the mode is stable, and X = (q + eta v + h v/2)/(1 + beta h^2 kappa) at the stage, so that
// <X^2> = kT/(kappa (1 - eta^2 kappa) (1 + beta h^2 kappa)). Its force on a moving head is -h (z - 1)/(W + h^2 kappa) v
// with W = (z - 1)^2/((g + (1-g) z) ((1-g) + g z)): on the unit circle, times exp(-i t/2), it is imaginary except for a
// pole at 4 sin^2(t/2) = h^2 kappa (1 - 4 beta sin^2(t/2)), whose weight is <X^2> cos(t/2)/2kT for every g. Summed over
// the modes of the line, spectrum and kernel are 2 kT lambda Re[exp(-i t/2) G]/cos(t/2).
//
// With B(z) B(1/z) = sum C_n z^-n over all n, B without zeros or poles outside of the unit circle, R = B e has these
// covariances for white noise e, and its poles are those of the kernel: friction and noise have the same exponentials.
// B exists if the spectrum has no zero, which the damper of a kernel `forever` ensures.
// Source: farshi2018 for the kernel; the balance and the factor are ours.
#pragma once

#include "model/semi_infinite_line/discrete_kernel.hpp"

namespace bathline {

/// n -> C_n / (kT lambda), n >= 0, from the kernel of stage displacements.
DiscreteKernel force_covariances(const DiscreteLine& line, const DiscreteKernel& on_stage);

/// sum C_n exp(-i n t) over all n at t = angle + distance.
double spectrum(const DiscreteKernel& covariances, double angle, double distance);

struct SpectralFactor {
  DiscreteKernel filter;  ///< n -> b_n, B(z) = sum b_n z^-n, with the exponentials of the covariances
  double error;           ///< largest difference of |B|^2 from the spectrum, over the largest value of that
};
/// For covariances whose exponentials belong to the branch point `angle`; the spectrum must be positive. Of some 700
/// spectra with any g, Courant numbers from 0.01 to the stability limit, 1e5 for g = 1/2, and kernel tolerances from
/// 1e-13 to 1e-2, all but 0.3 % had an error below 1e-9, and the largest was 1e-6. At the Courant number 1e-3 the
/// factorisation takes 3 s, and ten times as long for every third of that.
SpectralFactor spectral_factor(const DiscreteKernel& covariances, double angle);

}  // namespace bathline
