// The discrete Lagrangian of open particles with discrete damping forces: trajectories in positions.
//
//   L_d(q, q+) = (q+ - q)^T M (q+ - q) / 2h - h V(g q + (1-g) q+),   f- = -g C (q+ - q),   f+ = -(1-g) C (q+ - q)
//   D2 L_d(q-, q) + f+(q-, q) + D1 L_d(q, q+) + f-(q, q+) = 0
//   p- = -D1 L_d(q, q+) - f-(q, q+),   p+ = D2 L_d(q, q+) + f+(q, q+)
//
// Source: farshi2018, eqs. (43), (46)-(48); marsden2001, section 3.2 for the forced equations. It shares
// only the potential with the integrators, so that the two can be compared.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>

#include "model/particle_system.hpp"

namespace bathline {

/// Positions in m, momenta in kg m/s, one entry per degree of freedom.
class ForcedLagrangian {
 public:
  /// `damping` is C, square with the system's size; `gamma` is g, between 0 and 1; `h` is the step in s.
  ForcedLagrangian(const ParticleSystem& system, Eigen::MatrixXd damping, double gamma, double h);

  /// The forced discrete Legendre transforms: p- of the first and p+ of the second of two consecutive positions.
  Eigen::VectorXd momentum_before(const Eigen::VectorXd& q, const Eigen::VectorXd& next) const;
  Eigen::VectorXd momentum_after(const Eigen::VectorXd& q, const Eigen::VectorXd& next) const;

  /// The first position after q0, from p-(q0, q1) = p0. Nothing where Newton's method does not converge.
  std::optional<Eigen::VectorXd> first(const Eigen::VectorXd& q0, const Eigen::VectorXd& p0) const;
  /// The position after q, from the forced discrete Euler-Lagrange equation. Nothing where Newton's method does not
  /// converge.
  std::optional<Eigen::VectorXd> next(const Eigen::VectorXd& before, const Eigen::VectorXd& q) const;

 private:
  // D1 L_d + f- and D2 L_d + f+.
  Eigen::VectorXd d1_with_force(const Eigen::VectorXd& q, const Eigen::VectorXd& next) const;
  Eigen::VectorXd d2_with_force(const Eigen::VectorXd& q, const Eigen::VectorXd& next) const;
  Eigen::VectorXd potential_gradient(const Eigen::VectorXd& q, const Eigen::VectorXd& next) const;
  /// Solves d1_with_force(q, x) + impulse = 0 for x.
  std::optional<Eigen::VectorXd> solve(const Eigen::VectorXd& q, const Eigen::VectorXd& impulse,
                                       Eigen::VectorXd guess) const;

  Eigen::VectorXd mass_;
  std::shared_ptr<const Potential> potential_;
  Eigen::MatrixXd damping_;
  double gamma_;
  double h_;
};

}  // namespace bathline
