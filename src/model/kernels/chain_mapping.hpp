// The two faces of a bath without losses: independent oscillators around the head, and a chain with one end at it.
//
//   sum_j k_j cos(w_j t) = gamma(t),   the kernel of both: n frequencies and stiffnesses are n masses and springs
//
// The chain's masses and springs are the coefficients of Stieltjes' continued fraction of the transform of gamma,
//
//   sum_j k_j z/(z + w_j^2) = 1/(1/lambda_1 + 1/(M_1 z + 1/(1/lambda_2 + ... + 1/(M_n z)))),   z = s^2,
//
// its last site being free. The first n sites of a longer chain are the star of the Gauss rule with n nodes for the
// longer one's weights in w^2. Source: gragg1984 for the recursion coefficients; gautschi2004, section 2.2.3;
// chin2010 for chains of baths.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/line/sites.hpp"
#include "model/discrete_spectrum.hpp"

namespace bathline {

/// The first `sites` sites, or all where there are fewer, of the chain of these oscillators, by 4 `sites` steps for
/// each of them. Frequencies and stiffnesses are positive, no two frequencies equal.
std::vector<LineSite> chain_from_star(std::span<const BathOscillator> star, std::int64_t sites);

/// The oscillators, in rising frequency, of a chain whose last site is free. The time grows as the square of its
/// length. Throws std::runtime_error where the eigenvalues cannot be found.
std::vector<BathOscillator> star_from_chain(std::span<const LineSite> chain);

}  // namespace bathline
