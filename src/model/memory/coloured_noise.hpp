// The noise of a memory whose modes are passive as a sum, though not one by one.
//
// Its random force has the spectrum 2 kT Re g(i w): it is white noise through a filter with the poles of the kernel
// (minimum_phase_factor.hpp). Gauss collocation integrates the filter at its stages, as for a warm semi-infinite line.
// Splittings apply the decays of the modes exactly in half steps around the step of the particles, and sample the noise
// at every step, with covariances kT gamma(n h). With z = exp(s h), sigma = 2 tanh(s h/2) and W = 2 tan(theta/2) these
// have the spectrum
//
//   sum over n of gamma(|n| h) exp(-i n theta) = (1 + W^2/4) S_sigma(W),
//
// S_sigma that of the same kernel with sigma in the place of s: the filter has b_n = Re sum rho (z + 1)/2 z^n with the
// weights rho of its factor.
#pragma once

#include <memory>
#include <optional>

#include "model/semi_infinite_line/line_noise.hpp"
#include "model/memory/prony_memory.hpp"

namespace bathline {

/// Whether a scheme supports such noise: Gauss collocation and symmetric splittings.
bool supports_coloured_noise(const Scheme& scheme);

/// The noise at kT = `temperature`, J, under such a scheme with steps of h, and under the midpoint rule also that of a
/// damper beside the modes, kg/s, which is not independent of theirs. Throws UnsuitableFunction as
/// `minimum_phase_factor`.
std::shared_ptr<const LineNoise> make_memory_noise(const std::vector<PronyTerm>& modes, const Scheme& scheme, double h,
                                                   double temperature, double damping = 0.0);

}  // namespace bathline
