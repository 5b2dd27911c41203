// Paths of a step, made of positions at nodes, and where a discrete Lagrangian looks at them.
//
//   L_d = h sum_i w_i L(Q_i, V_i),   Q_i = sum_j A_ij x_j,   V_i = sum_j B_ij x_j / h
//
// with x_j the positions at the nodes, the first and the last being the ends of the step. Gamma family: the straight
// path, L at (1-g) of it. Lobatto: the polynomial through its positions at the Lobatto nodes, which are the
// quadrature's, or one of a degree more. Source: farshi2018, eq. (43); marsden2001, section 2.6; martin2018,
// Proposition 7.4.
#pragma once

#include <Eigen/Core>

namespace bathline {

struct GalerkinRule {
  Eigen::VectorXd nodes;       ///< from 0 to 1, in units of the step
  Eigen::MatrixXd positions;   ///< A, stages x nodes
  Eigen::MatrixXd velocities;  ///< B, stages x nodes
  Eigen::VectorXd weights;     ///< w, one per stage
};

/// The straight path looked at once, Q = g q + (1-g) q+; g = 1/2 is the midpoint rule.
GalerkinRule gamma_rule(double gamma);
/// The polynomial of degree stages - 1 on Lobatto nodes; two or more stages.
GalerkinRule lobatto_rule(int stages);
/// The polynomial of degree `stages`, looked at in as many Lobatto nodes: its velocities there are free, Q_i = q + h
/// sum_j a_ij V_j, as those of the pair Lobatto IIIA-IIIB are. Where masses depend on positions this is another
/// discrete Lagrangian than the one above, of the same order.
GalerkinRule lobatto_pair_rule(int stages);

}  // namespace bathline
