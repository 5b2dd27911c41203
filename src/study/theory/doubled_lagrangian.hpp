// The Lagrangian of doubled variables, whose Euler-Lagrange equations on the diagonal are those of the forced system.
//
//   L~(x, x', y, y') = L(x, x') - L(y, y') + K,   K = (f(x, x', t) + f(y, y', t)).(x - y) / 2
//   L~_d = h sum_i w_i L~(X_i, X_i', Y_i, Y_i'),  stationary in the inner nodes of both paths
//   L~_d(y, x) = -L~_d(x, y);   on x = y:  D_xj L~_d = -D_yj L~_d = D_j L_d + f_d^j
//
// with the paths of study/theory/galerkin_rule.hpp. At a stationary point the derivatives with respect to the ends are
// the partial ones. Source: martin2018, sections 4, 6 and 7, Theorem 6.1 and Propositions 7.3 and 7.4, in flat space.
//
// The forced equations are not used: derivatives come from automatic differentiation of L~_d in forward mode, whose
// elementary functions are L and f with their first derivatives.
#pragma once

#include <Eigen/Dense>
#include <optional>

#include "study/theory/forced_galerkin_path.hpp"

namespace bathline {

/// Nodes as in ForcedGalerkinPath. Positions in m, values of L~_d in J s, derivatives in kg m/s.
class DoubledLagrangian {
 public:
  /// Arguments as for ForcedGalerkinPath.
  DoubledLagrangian(const ParticleSystem& system, Eigen::MatrixXd damping, GalerkinRule rule, double h);

  /// Sets the time at which the next steps begin, as in ForcedGalerkinPath.
  void begin_at(double t) {
    time_ = t;
    forced_.begin_at(t);
  }

  /// h sum_i w_i L~ of two paths, with its derivatives with respect to all nodes.
  struct Action {
    double value = 0.0;
    Eigen::MatrixXd by_x, by_y;
  };
  Action action(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y) const;

  /// Two paths, stationary in their inner nodes.
  struct Paths {
    Eigen::MatrixXd x, y;
  };
  /// The paths with these ends (first column: begin, second: end). Nothing where the iteration does not converge.
  std::optional<Paths> stationary(const Eigen::MatrixXd& x_ends, const Eigen::MatrixXd& y_ends) const;

 private:
  std::shared_ptr<const Lagrangian> lagrangian_;
  NonconservativeForce force_;
  GalerkinRule rule_;
  double h_;
  double time_ = 0.0;
  ForcedGalerkinPath forced_;  // for the matrix of the iteration
};

}  // namespace bathline
