// Positions with the density exp(-V(q)/kT).
//
//   quadratic V       q = kT^1/2 L^-T x,  V'' = L L^T, exactly
//   one coordinate    the inverse of the distribution, to round-off
//   several           Hamiltonian Monte Carlo
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>

#include "model/open_system.hpp"
#include "parallel/random_key.hpp"

namespace bathline {

class GibbsPositions {
 public:
  virtual ~GibbsPositions() = default;
  /// Independent for different seeds and realisations.
  virtual Eigen::VectorXd draw(const RandomKey& key) const = 0;
  /// How it is done, and how well where that was measured.
  virtual std::string account() const = 0;
};

/// At a temperature kT in J; nullptr where there is no such distribution, or none that could be reached, and then
/// `obstacle` says why.
std::shared_ptr<const GibbsPositions> make_gibbs_positions(const OpenSystem& system, double temperature,
                                                           std::string& obstacle);

}  // namespace bathline
