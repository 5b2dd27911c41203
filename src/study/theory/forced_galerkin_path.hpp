// The Lagrange-d'Alembert principle for the paths of a step, with derivatives by hand.
//
//   G_j = D_j L_d + f_d^j = sum_i w_i [ h A_ij F_i + B_ij P_i ],   F_i = dL/dq + f,  P_i = dL/dv at Q_i, V_i, t_i
//   inner nodes: G_j = 0;   p = -G_first = -D1 L_d - f_d^-,   p+ = G_last = D2 L_d + f_d^+
//   DEL: G_last(q-, q) + G_first(q, q+) = 0
//
// with the paths of study/theory/galerkin_rule.hpp. Source: marsden2001, sections 2.6 and 3.2; martin2018,
// Proposition 7.4.
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <optional>

#include "model/particle_system.hpp"
#include "study/theory/nonconservative_force.hpp"
#include "study/theory/galerkin_rule.hpp"

namespace bathline {

/// Positions and impulses at the nodes of a path are matrices with a row per degree of freedom and a column per node.
/// Positions in m, impulses in kg m/s. Vectors of all of them are ordered by node.
class ForcedGalerkinPath {
 public:
  /// `damping` is C, square with the system's size, a part of f; `h` is the step in s.
  ForcedGalerkinPath(const ParticleSystem& system, Eigen::MatrixXd damping, GalerkinRule rule, double h);
  /// Sets the time at which the next steps begin; initially 0.
  void begin_at(double t) { time_ = t; }

  /// G_j, column by column.
  Eigen::MatrixXd impulses(const Eigen::MatrixXd& nodes) const;
  /// Derivatives of all G_j with respect to all positions, square.
  Eigen::MatrixXd impulse_jacobian(const Eigen::MatrixXd& nodes) const;

  /// A formula for the G_j: that above, or an equivalent one.
  using Impulses = std::function<Eigen::MatrixXd(const Eigen::MatrixXd& nodes)>;
  /// The path from q to next, on which the inner G_j vanish up to round-off. Nothing where Newton's method does not
  /// converge.
  std::optional<Eigen::MatrixXd> between(const Impulses& impulses, const Eigen::VectorXd& q,
                                         const Eigen::VectorXd& next) const;
  /// The path that leaves q with momentum p; Newton's method begins with the velocities v. Nothing where it does not
  /// converge.
  std::optional<Eigen::MatrixXd> leaving(const Impulses& impulses, const Eigen::VectorXd& q, const Eigen::VectorXd& p,
                                         const Eigen::VectorXd& v) const;

 private:
  /// The values at a stage of a path.
  struct Stage {
    Eigen::VectorXd q, v, force, momentum;  // F in N, P in kg m/s
  };
  void evaluate(Eigen::Index stage, const Eigen::MatrixXd& nodes, Stage& values) const;
  double time_of(Eigen::Index stage) const { return time_ + h_ * rule_.positions.row(stage).dot(rule_.nodes); }
  /// Newton's method for `count` nodes from column `from` on, with the equations of the nodes from `first` on.
  std::optional<Eigen::MatrixXd> solve(const Impulses& impulses, Eigen::MatrixXd nodes, Eigen::Index from,
                                       Eigen::Index count, Eigen::Index first, const Eigen::VectorXd& p) const;

  Eigen::Index size_;
  std::shared_ptr<const Lagrangian> lagrangian_;
  NonconservativeForce force_;
  GalerkinRule rule_;
  double h_;
  double time_ = 0.0;
};

}  // namespace bathline
