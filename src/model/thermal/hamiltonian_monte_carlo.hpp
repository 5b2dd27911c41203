// Positions with the density exp(-V(q)/kT) by Hamiltonian Monte Carlo, as long as it converges.
//
// A member starts where the system does and makes short paths of Stoermer-Verlet, each from fresh momenta and taken
// with the probability min(1, exp(-(H+ - H)/kT)), so that the step biases nothing. How many are enough is measured:
// members that start there and members that start on the slopes around have to tell the same, by the split-R of
// gelman1992 of every coordinate and of V, and the virial <(q - q0).grad V> has to be n kT. Source: duane1987.
#pragma once

#include "model/thermal/boltzmann_sampler.hpp"

namespace bathline {

/// nullptr where it does not converge, and then `unsupported_reason` says so with the numbers.
std::shared_ptr<const BoltzmannSampler> make_hamiltonian_monte_carlo(const ParticleSystem& system, double temperature,
                                                                     std::string& unsupported_reason);

}  // namespace bathline
