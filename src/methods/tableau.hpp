// Nodes, weights and matrices of collocation methods, computed.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/Core>

namespace bathline {

/// The zeros of the Legendre polynomial of degree `stages`, on [0, 1]. Source: hairer2006, section II.1.3.
Eigen::VectorXd gauss_nodes(int stages);
/// 0, 1 and the zeros of the derivative of the Legendre polynomial of degree stages - 1, on [0, 1]. At least two.
/// Source: hairer2006, section II.1.4.
Eigen::VectorXd lobatto_nodes(int stages);

/// Collocation at the nodes c: a_ij = integral of l_j from 0 to c_i and b_j = integral of l_j from 0 to 1, l_j the
/// Lagrange polynomials. Source: hairer2006, eq. (II.1.10).
Eigen::MatrixXd collocation_matrix(const Eigen::VectorXd& nodes);
Eigen::VectorXd collocation_weights(const Eigen::VectorXd& nodes);

/// The matrix a^ with b_i a^_ij + b_j a_ji = b_i b_j, which makes a pair of methods symplectic.
/// Source: hairer2006, eq. (VI.4.3).
Eigen::MatrixXd symplectic_partner(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace bathline
