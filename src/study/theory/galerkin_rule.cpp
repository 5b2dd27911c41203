// Paths of a step: derivatives of Lagrange polynomials at their nodes.
//
//   l_j'(c_i) = (m_j / m_i) / (c_i - c_j) for i != j,   m_j = 1 / prod_k (c_j - c_k),   sum_j l_j' = 0
//
// The last equation holds since the polynomials sum to 1. Source: hairer2006, section II.1.2 for collocation
// polynomials.
// Tested by tests/study/doubled_variables_test.cpp.
#include "study/theory/galerkin_rule.hpp"

#include "methods/tableau.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

MatrixXd derivative_matrix(const VectorXd& c) {
  VectorXd m = VectorXd::Ones(c.size());
  for (Index j = 0; j < c.size(); ++j) {
    for (Index k = 0; k < c.size(); ++k) m[j] /= k == j ? 1.0 : c[j] - c[k];
  }
  MatrixXd derivative = MatrixXd::Zero(c.size(), c.size());
  for (Index i = 0; i < c.size(); ++i) {
    for (Index j = 0; j < c.size(); ++j) {
      if (j == i) continue;
      derivative(i, j) = m[j] / m[i] / (c[i] - c[j]);
      derivative(i, i) -= derivative(i, j);
    }
  }
  return derivative;
}

}  // namespace

GalerkinRule gamma_rule(double gamma) {
  return {.nodes = VectorXd{{0.0, 1.0}},
          .positions = MatrixXd{{gamma, 1.0 - gamma}},
          .velocities = MatrixXd{{-1.0, 1.0}},
          .weights = VectorXd::Ones(1)};
}

GalerkinRule lobatto_pair_rule(int stages) {
  const VectorXd nodes = lobatto_nodes(stages + 1), quadrature_nodes = lobatto_nodes(stages);
  MatrixXd values = MatrixXd::Ones(stages, stages + 1), derivatives = MatrixXd::Zero(stages, stages + 1);
  for (Index i = 0; i < stages; ++i) {
    for (Index j = 0; j <= stages; ++j) {
      // Factor by factor, with the product rule.
      for (Index k = 0; k <= stages; ++k) {
        if (k == j) continue;
        const double factor = (quadrature_nodes[i] - nodes[k]) / (nodes[j] - nodes[k]);
        derivatives(i, j) = derivatives(i, j) * factor + values(i, j) / (nodes[j] - nodes[k]);
        values(i, j) *= factor;
      }
    }
  }
  return {
      .nodes = nodes, .positions = values, .velocities = derivatives, .weights = collocation_weights(quadrature_nodes)};
}

GalerkinRule lobatto_rule(int stages) {
  const VectorXd nodes = lobatto_nodes(stages);
  return {.nodes = nodes,
          .positions = MatrixXd::Identity(stages, stages),
          .velocities = derivative_matrix(nodes),
          .weights = collocation_weights(nodes)};
}

}  // namespace bathline
