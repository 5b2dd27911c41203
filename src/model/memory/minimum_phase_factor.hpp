// The spectral factor of a sum of decaying oscillations that is passive as a whole.
//
//   gamma(t) = 2 D delta(t) + Re sum c_j exp(s_j t),  c = k - i b, s = -r + i w;   S(w) = 2 Re g(i w) = |B(i w)|^2,
//   B(s) = (2 D)^1/2 + sum_j (rho_j/(s - s_j) + conj)/2,   rho_j = c_j/B(-s_j)
//
// B has no zeros and no poles for Re s > 0, so its logarithm there is an integral over that of S,
//
//   log B(s) = (1/pi) int_0^inf s/(s^2 + w^2) log S(w) dw,
//
// which needs no roots of polynomials and no Riccati equation: these are too ill-conditioned for fitted sums of many
// rates. White noise through the filter B is a force with the spectrum S: friction and noise have the same
// exponentials, though no single one has noise of its own. Source: papoulis1977 for the integral; its use here is ours.
#pragma once

#include <complex>
#include <vector>

#include "model/memory/prony_memory.hpp"

namespace bathline {

struct MinimumPhaseFactor {
  std::vector<PronyTerm> modes;           ///< of gamma, with distinct exponents
  std::vector<std::complex<double>> rho;  ///< of each mode, kg^(1/2) s^(-3/2)
  double error;                           ///< largest difference of |B|^2 from S, over the largest value of S
};

/// The factor of a damper D = `damping`, kg/s, and modes that all decay. Throws UnsuitableFunction if S is negative, or
/// too inaccurate by cancellation.
MinimumPhaseFactor minimum_phase_factor(const std::vector<PronyTerm>& modes, double damping = 0.0);

}  // namespace bathline
