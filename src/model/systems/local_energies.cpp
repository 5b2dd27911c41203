// Energies of single particles and the energy that flows between them.
// Tested by tests/model/systems/pair_potential_test.cpp.
#include "model/systems/local_energies.hpp"

#include <utility>

namespace bathline {

using Eigen::Index;
using Eigen::VectorXd;

Observable particle_energies(int particles, const VectorXd& mass, std::shared_ptr<const PairPotentialSum> pairs,
                             std::vector<PotentialSum::Part> external) {
  const auto value = [=](const VectorXd& q, const VectorXd& v, double) {
    const Index axes = q.size() / particles;
    VectorXd energies = 0.5 * mass.cwiseProduct(v.cwiseAbs2()).reshaped(axes, particles).colwise().sum().transpose();
    for (const PairPotentialSum::Term& term : pairs->terms()) {
      const double energy = term.potential->value(pairs->argument(pairs->separation(term, q)));
      const bool is_pair = term.from != PairPotentialSum::origin && term.to != PairPotentialSum::origin;
      for (const int particle : {term.from, term.to}) {
        if (particle != PairPotentialSum::origin) energies[particle] += is_pair ? 0.5 * energy : energy;
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

Observable bond_currents(std::shared_ptr<const PairPotentialSum> pairs) {
  std::vector<PairPotentialSum::Term> bonds;
  for (const PairPotentialSum::Term& term : pairs->terms()) {
    if (term.from != PairPotentialSum::origin && term.to != PairPotentialSum::origin) bonds.push_back(term);
  }
  const int size = static_cast<int>(bonds.size());
  const auto value = [pairs = std::move(pairs), bonds = std::move(bonds)](const VectorXd& q, const VectorXd& v,
                                                                          double) {
    VectorXd currents(bonds.size());
    for (std::size_t bond = 0; bond < bonds.size(); ++bond) {
      const PairPotentialSum::Term& term = bonds[bond];
      const Eigen::Vector3d separation = pairs->separation(term, q);
      const double s = pairs->argument(separation), derivative = term.potential->derivative(s);
      // The separation of the sum of velocities: the origin is at rest.
      const Eigen::Vector3d velocities = pairs->separation({PairPotentialSum::origin, term.to, {}}, v) +
                                         pairs->separation({PairPotentialSum::origin, term.from, {}}, v);
      const double along = s == separation[0] ? velocities[0] : velocities.dot(separation) / s;
      currents[static_cast<Index>(bond)] = derivative == 0.0 ? 0.0 : -0.5 * derivative * along;
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
