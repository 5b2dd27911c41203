// The noise of a memory whose modes are passive as a sum, though not one by one.
//
//   gamma(t) = 2 D delta(t) + Re sum c_j exp(s_j t),  c = k - i b, s = -r + i w;   S(w) = 2 kT Re g(i w)
//
// Its random force is white noise through a filter with the poles of the kernel (spectral_factor.hpp), though no single
// one has noise of its own. Gauss collocation integrates the filter at its stages, as for a warm semi-infinite line.
// Splittings apply the decays of the modes exactly in half steps around the step of the particles, and sample the noise
// at every step, with covariances kT gamma(n h).
#pragma once

#include <memory>

#include "model/semi_infinite_line/line_noise.hpp"
#include "model/memory/prony_memory.hpp"

namespace bathline {

/// Whether a scheme supports such noise: Gauss collocation and symmetric splittings.
bool supports_coloured_noise(const Scheme& scheme);

/// The filter in continuous time of modes that all decay and a damper, kg/s, for kT = 1. Throws UnsuitableFunction if
/// their sum is not passive.
std::shared_ptr<const NoiseFilter> make_memory_filter(const std::vector<PronyTerm>& modes, double damping = 0.0);

/// The noise at kT = `temperature`, J, under a scheme with such noise and steps of h. `filter` is that of the modes in
/// continuous time; the noise of a damper beside them, which is not independent of theirs, is for the midpoint rule.
std::shared_ptr<const LineNoise> make_memory_noise(const std::vector<PronyTerm>& modes,
                                                   std::shared_ptr<const NoiseFilter> filter, const Scheme& scheme,
                                                   double h, double temperature);

}  // namespace bathline
