// Galerkin rules: paths of a step through positions at nodes, and the quadrature of the discrete Lagrangian.
//
//   L_d = h sum_i w_i L(Q_i, V_i),   Q_i = sum_j A_ij x_j,   V_i = sum_j B_ij x_j / h
//
// with x_j the positions at the nodes, the first and the last being the ends of the step. Gamma family: the straight
// path, with L at (1-g) h. Lobatto: the polynomial through the positions at the Lobatto nodes, which are also those of
// the quadrature, or one of one degree more. Source: farshi2018, eq. (43); marsden2001, section 2.6; martin2018,
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

/// The straight path with one stage, Q = g q + (1-g) q+; g = 1/2 is the midpoint rule.
GalerkinRule gamma_rule(double gamma);
/// The polynomial of degree stages - 1 on Lobatto nodes; two or more stages.
GalerkinRule lobatto_rule(int stages);
/// The polynomial of degree `stages`, evaluated at `stages` Lobatto nodes: its velocities there are independent, Q_i =
/// q + h sum_j a_ij V_j, as in the pair Lobatto IIIA-IIIB. If masses depend on positions, this discrete Lagrangian
/// differs from the one above and has the same order.
GalerkinRule lobatto_pair_rule(int stages);

}  // namespace bathline
