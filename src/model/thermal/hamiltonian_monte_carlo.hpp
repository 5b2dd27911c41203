// Positions with the density exp(-V(q)/kT) by Hamiltonian Monte Carlo.
//
// A chain starts at q0 of the system and makes short Stoermer-Verlet trajectories, each from new random momenta and
// accepted with the probability min(1, exp(-(H+ - H)/kT)), so that the step introduces no bias. Their number is chosen
// by measurement: chains that start at q0 and annealed chains must agree, by the split-R of gelman1992 of every
// coordinate and of V, and the virial <(q - q0).grad V> must be n kT. Source: duane1987.
#pragma once

#include "model/thermal/boltzmann_sampler.hpp"

namespace bathline {

/// nullptr if it does not converge, with the numbers in `unsupported_reason`.
std::shared_ptr<const BoltzmannSampler> make_hamiltonian_monte_carlo(const ParticleSystem& system, double temperature,
                                                                     std::string& unsupported_reason);

}  // namespace bathline
