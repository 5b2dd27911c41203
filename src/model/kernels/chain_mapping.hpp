// Two equivalent forms of a lossless bath: independent oscillators around the head, and a chain with one end at it.
//
//   sum_j k_j cos(w_j t) = gamma(t),   the kernel of both: n frequencies and stiffnesses, or n masses and springs
//
// The chain's masses and springs are the coefficients of Stieltjes' continued fraction of the transform of gamma,
//
//   sum_j k_j z/(z + w_j^2) = 1/(1/lambda_1 + 1/(M_1 z + 1/(1/lambda_2 + ... + 1/(M_n z)))),   z = s^2,
//
// with a free last site. The first n sites of a longer chain are equivalent to the Gauss rule with n nodes for the
// weights of the longer one in w^2. Source: gragg1984 for the recursion coefficients; gautschi2004, section 2.2.3;
// chin2010 for chains of baths.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/line/sites.hpp"
#include "model/discrete_spectrum.hpp"

namespace bathline {

/// The first `sites` sites, or all if there are fewer, of the chain that is equivalent to these oscillators; each
/// oscillator costs 4 `sites` operations. Frequencies are positive and distinct, stiffnesses positive.
std::vector<LineSite> chain_from_star(std::span<const BathOscillator> star, std::int64_t sites);

/// The oscillators, in rising frequency, that are equivalent to a chain with a free last site. The cost grows as the
/// square of its length. Throws std::runtime_error if the eigenvalues are not found.
std::vector<BathOscillator> star_from_chain(std::span<const LineSite> chain);

}  // namespace bathline
