// Positions with the density exp(-V(q)/kT).
//
//   quadratic V       q = kT^1/2 L^-T x,  V'' = L L^T, exactly
//   one coordinate    the inverse of the distribution (boltzmann_table.hpp)
//   several           Hamiltonian Monte Carlo
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>

#include "model/particle_system.hpp"
#include "random/counter_rng.hpp"

namespace bathline {

class BoltzmannSampler {
 public:
  virtual ~BoltzmannSampler() = default;
  /// Independent for different seeds and realisations.
  virtual Eigen::VectorXd draw(const RngKey& key) const = 0;
  /// The method, with its measured accuracy if there is one.
  virtual std::string description() const = 0;
};

/// A sampler at a temperature kT in J; nullptr, with the `unsupported_reason`, if there is no such distribution or
/// sampling does not converge.
std::shared_ptr<const BoltzmannSampler> make_boltzmann_sampler(const ParticleSystem& system, double temperature,
                                                               std::string& unsupported_reason);

}  // namespace bathline
