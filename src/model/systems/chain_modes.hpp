// Energies of the normal modes of a chain.
#pragma once

#include "model/particle_system.hpp"

namespace bathline {

enum class ChainEnds { free, fixed, ring };

/// mode_energy: E_k = m (V_k^2 + w_k^2 Q_k^2) / 2 in J of a chain of equal masses (kg) on one axis, joined by springs
/// (stiffness in N/m), with Q_k and V_k its positions and velocities in the orthonormal basis of its normal modes:
///
///   fixed ends, k = 1 to n       sines,   w_k = 2 w sin(pi k / 2(n+1)),   w^2 = stiffness / mass
///   free ends,  k = 0 to n - 1   cosines, w_k = 2 w sin(pi k / 2n)
///   ring,       k = 0 to n/2     sine and cosine together, w_k = 2 w sin(pi k / n)
///
/// Their sum is the energy of the harmonic chain. A record costs O(n log n). Source: fermi1955, eq. (4).
Observable mode_energies(int particles, ChainEnds ends, double mass, double stiffness);

}  // namespace bathline
