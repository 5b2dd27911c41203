// Collocation tableaux: known nodes, the simplifying conditions B, C and D, and symplecticity.
#include "methods/tableau.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "method_cases.hpp"

namespace bathline::tableau_test {
namespace {

TEST(Tableau, KnownNodes) {
  const double root3 = std::sqrt(3.0), root5 = std::sqrt(5.0), root15 = std::sqrt(15.0);
  EXPECT_NEAR(gauss_nodes(1)[0], 0.5, 1e-16);
  EXPECT_NEAR(gauss_nodes(2)[1], 0.5 + root3 / 6.0, 1e-16);
  EXPECT_NEAR(gauss_nodes(3)[0], 0.5 - root15 / 10.0, 1e-16);
  EXPECT_NEAR(gauss_nodes(4)[3], 0.5 + std::sqrt(525.0 + 70.0 * std::sqrt(30.0)) / 70.0, 2e-16);
  EXPECT_NEAR(lobatto_nodes(3)[1], 0.5, 1e-16);
  EXPECT_NEAR(lobatto_nodes(4)[1], 0.5 - root5 / 10.0, 1e-16);
  EXPECT_NEAR(lobatto_nodes(5)[3], 0.5 + std::sqrt(21.0) / 14.0, 1e-16);
  EXPECT_EQ(lobatto_nodes(5)[0], 0.0);
  EXPECT_EQ(lobatto_nodes(5)[4], 1.0);
}

/// sum_i b_i c_i^{k-1} = 1/k for k up to `order` (hairer2006, eq. (II.1.11)).
void expect_quadrature(const Eigen::VectorXd& b, const Eigen::VectorXd& c, int order) {
  for (int k = 1; k <= order; ++k) EXPECT_NEAR(b.dot(c.array().pow(k - 1).matrix()), 1.0 / k, 3e-16) << k;
  EXPECT_GT(std::abs(b.dot(c.array().pow(order).matrix()) - 1.0 / (order + 1)), 1e-7);
}

/// sum_j a_ij c_j^{k-1} = c_i^k / k for k up to `order`.
void expect_stages(const Eigen::MatrixXd& a, const Eigen::VectorXd& c, int order) {
  for (int k = 1; k <= order; ++k) {
    const Eigen::VectorXd defect = a * c.array().pow(k - 1).matrix() - (c.array().pow(k) / k).matrix();
    EXPECT_LT(defect.cwiseAbs().maxCoeff(), 3e-16) << k;
  }
}

/// sum_i b_i c_i^{k-1} a_ij = b_j (1 - c_j^k) / k for k up to `order`.
void expect_duals(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, const Eigen::VectorXd& c, int order) {
  for (int k = 1; k <= order; ++k) {
    const Eigen::VectorXd weighted = b.cwiseProduct(c.array().pow(k - 1).matrix());
    const Eigen::VectorXd expected = b.cwiseProduct(((1.0 - c.array().pow(k)) / k).matrix());
    EXPECT_LT((a.transpose() * weighted - expected).cwiseAbs().maxCoeff(), 3e-16) << k;
  }
}

TEST(Tableau, GaussSatisfiesItsOrderConditions) {
  for (int s = 1; s <= 4; ++s) {
    SCOPED_TRACE(s);
    const Eigen::VectorXd c = gauss_nodes(s), b = collocation_weights(c);
    const Eigen::MatrixXd a = collocation_matrix(c);
    expect_quadrature(b, c, 2 * s);
    expect_stages(a, c, s);
    expect_duals(a, b, c, s);
    EXPECT_LT((symplectic_partner(a, b) - a).cwiseAbs().maxCoeff(), 3e-16);
  }
}

TEST(Tableau, LobattoPairsSatisfyTheirOrderConditions) {
  for (int s = 2; s <= 5; ++s) {
    SCOPED_TRACE(s);
    const Eigen::VectorXd c = lobatto_nodes(s), b = collocation_weights(c);
    const Eigen::MatrixXd a = collocation_matrix(c), hat = symplectic_partner(a, b);
    expect_quadrature(b, c, 2 * s - 2);
    expect_stages(a, c, s);
    expect_duals(a, b, c, s - 2);
    expect_stages(hat, c, s - 2);
    expect_duals(hat, b, c, s);
    // The ends are exact: no stage before the first, all of the step before the last.
    EXPECT_LT(a.row(0).cwiseAbs().maxCoeff(), 1e-16);
    EXPECT_LT((a.row(s - 1).transpose() - b).cwiseAbs().maxCoeff(), 3e-16);
    EXPECT_LT(hat.col(s - 1).cwiseAbs().maxCoeff(), 3e-16);
  }
}

TEST(Tableau, ImplicitMethodsAreSymplecticAndSymmetricAsTheyClaim) {
  int count = 0;
  for (const MethodCase& method : method_cases()) {
    const auto* s = std::get_if<PartitionedRungeKutta>(&method.scheme);
    if (s == nullptr) continue;
    ++count;
    SCOPED_TRACE(method.name);
    const MethodProperties properties = method.method->properties(method.options);
    const int n = s->stages();
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(s->b[i], s->b[n - 1 - i], 2e-16);
      for (int j = 0; j < n; ++j) {
        const double defect = s->b[i] * s->a_hat(i, j) + s->b[j] * s->a(j, i) - s->b[i] * s->b[j];
        EXPECT_EQ(std::abs(defect) <= 1e-16, properties.symplectic) << defect;
        if (!properties.time_reversible) continue;
        EXPECT_NEAR(s->a(i, j) + s->a(n - 1 - i, n - 1 - j), s->b[j], 3e-16);
        EXPECT_NEAR(s->a_hat(i, j) + s->a_hat(n - 1 - i, n - 1 - j), s->b[j], 3e-16);
      }
    }
  }
  EXPECT_GT(count, 8);  // those of Gauss and Lobatto, and methods with one stage
}

}  // namespace
}  // namespace bathline::tableau_test
