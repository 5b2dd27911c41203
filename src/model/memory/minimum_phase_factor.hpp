// The spectral factor of a sum of decaying oscillations that is passive as a whole.
//
//   gamma(t) = Re sum c_j exp(s_j t),  c = k - i b, s = -r + i w;   S(w) = 2 Re g(i w) = |B(i w)|^2,
//   B(s) = sum_j (rho_j/(s - s_j) + conj)/2,   rho_j = c_j/B(-s_j)
//
// B has no zeros and no poles for Re s > 0, so that its logarithm there is an integral over those of S,
//
//   log B(s) = (1/pi) int_0^inf s/(s^2 + w^2) log S(w) dw,
//
// and needs no roots of polynomials and no Riccati equation, which fitted sums of many rates are too much for. A filter
// B of white numbers makes a force with the spectrum S: friction and noise are of the same exponentials, though none of
// them has noise of its own. Source: papoulis1977, for the integral; what is made of it is ours.
#pragma once

#include <complex>
#include <vector>

#include "model/memory/prony_memory.hpp"

namespace bathline {

struct MinimumPhaseFactor {
  std::vector<PronyTerm> modes;           ///< of gamma, no two with the same exponent
  std::vector<std::complex<double>> rho;  ///< of each of them, kg/s in square root
  double error;                           ///< largest difference of |B|^2 from S, over the largest value of S
};

/// Of modes that all decay. Throws UnsuitableFunction where S is below 0, or known to too few digits.
MinimumPhaseFactor minimum_phase_factor(const std::vector<PronyTerm>& modes);

}  // namespace bathline
