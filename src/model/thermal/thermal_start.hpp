// Particles that start from their Gibbs distribution.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>

#include "model/particle_system.hpp"

namespace bathline {

/// Draws positions and momenta with the density exp(-(p^T M^-1 p / 2 + V(q)) / kT), or momenta alone. Momenta may have
/// temperatures of their own, positions have one.
class ThermalStart {
 public:
  virtual ~ThermalStart() = default;
  /// Overwrites p, and q if positions are drawn, for masses in kg; seed and realisation select the draw, the same on
  /// every rank.
  virtual void draw(std::uint64_t seed, std::uint32_t realisation, const Eigen::VectorXd& mass, Eigen::VectorXd& q,
                    Eigen::VectorXd& p) const = 0;
  /// Whether draws differ: at the temperature 0 all momenta are 0.
  virtual bool is_warm() const = 0;
  /// The method, with its measured accuracy if there is one.
  virtual std::string description() const = 0;
};

/// The start of a system whose `start` is thermal, at temperatures kT (J) of every degree of freedom; nullptr, with the
/// `unsupported_reason`, if there is none.
std::shared_ptr<const ThermalStart> make_thermal_start(const ParticleSystem& system, const Eigen::VectorXd& temperature,
                                                       std::string& unsupported_reason);

}  // namespace bathline
