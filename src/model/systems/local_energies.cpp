// Energies of single particles and the energy that flows between them.
// Tested by tests/model/systems/pair_potential_test.cpp.
#include "model/systems/local_energies.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bathline {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

bool joins_particles(const PairPotentialSum::Term& term) {
  return term.from != PairPotentialSum::origin && term.to != PairPotentialSum::origin;
}

}  // namespace

Observable particle_energies(int particles, const VectorXd& mass, std::shared_ptr<const PairPotentialSum> pairs,
                             std::vector<PotentialSum::Part> external) {
  const auto value = [=](const VectorXd& q, const VectorXd& v, double) {
    const Index axes = q.size() / particles;
    VectorXd energies = 0.5 * mass.cwiseProduct(v.cwiseAbs2()).reshaped(axes, particles).colwise().sum().transpose();
    for (const PairPotentialSum::Term& term : pairs->terms()) {
      const double energy = term.potential->value(pairs->argument(pairs->separation(term, q)));
      const double share = joins_particles(term) ? 0.5 : 1.0;
      for (const int particle : {term.from, term.to}) {
        if (particle != PairPotentialSum::origin) energies[particle] += share * energy;
      }
    }
    for (const PotentialSum::Part& part : external) {
      energies[part.particle] += part.potential->value(q.segment(part.particle * axes, axes));
    }
    return energies;
  };
  return {.name = "particle_energy",
          .units = "J",
          .long_name = "energy of the particle with half of that of its pairs",
          .size = particles,
          .value = value,
          .integrand = {},
          .dimension = "particle"};
}

Observable bond_currents(int particles, std::shared_ptr<const PairPotentialSum> pairs) {
  std::vector<PairPotentialSum::Term> bonds;
  std::ranges::copy_if(pairs->terms(), std::back_inserter(bonds), joins_particles);
  const int size = static_cast<int>(bonds.size());
  const auto value = [particles, pairs = std::move(pairs), bonds = std::move(bonds)](const VectorXd& q,
                                                                                     const VectorXd& v, double) {
    const Index axes = q.size() / particles;
    VectorXd currents(bonds.size());
    double* current = currents.data();
    for (const PairPotentialSum::Term& bond : bonds) {
      const Eigen::Vector3d separation = pairs->separation(bond, q);
      const double s = pairs->argument(separation);
      const VectorXd velocities = v.segment(bond.from * axes, axes) + v.segment(bond.to * axes, axes);
      double along = velocities[0];  // with one axis s has a sign
      // At the same place there is no force.
      if (axes > 1) along = s > 0.0 ? velocities.dot(separation.head(axes)) / s : 0.0;
      *current++ = -0.5 * bond.potential->derivative(s) * along;
    }
    return currents;
  };
  return {.name = "bond_current",
          .units = "W",
          .long_name = "energy that flows from the first to the second particle of a pair",
          .size = size,
          .value = value,
          .integrand = {},
          .dimension = "bond"};
}

}  // namespace bathline
