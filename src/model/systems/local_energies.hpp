// Energies of single particles and the energy that flows between them.
#pragma once

#include <memory>
#include <vector>

#include "model/particle_system.hpp"
#include "model/potentials/pair_potential_sum.hpp"
#include "model/potentials/potential_sum.hpp"

namespace bathline {

/// particle_energy: E_a in J, the kinetic energy of a particle, its external potentials, half of the potentials of its
/// pairs and all of those to the origin. Their sum is the energy of the particles. Without environments, damping and
/// external forces dE_a/dt is the sum of the currents to the particle less those from it. Source: dhar2008,
/// section 2.1.
Observable particle_energies(int particles, const Eigen::VectorXd& mass, std::shared_ptr<const PairPotentialSum> pairs,
                             std::vector<PotentialSum::Part> external);

/// bond_current: J = -V'(s) e.(v_a + v_b)/2 in W of every pair of particles (a, b), from a to b, e being the unit
/// vector from a to b. Source: dhar2008, section 2.1.
Observable bond_currents(int particles, std::shared_ptr<const PairPotentialSum> pairs);

}  // namespace bathline
