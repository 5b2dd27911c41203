// Nodes, weights and matrices of collocation methods, computed in long double.
#include "methods/tableau.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace bathline {

namespace {

using Long = long double;

/// P_n(x) and its first two derivatives, by the three-term recurrence and Legendre's equation.
struct Legendre {
  Long value, first, second;
};

Legendre legendre(int degree, Long x) {
  Long previous = 1.0L, current = x;
  if (degree == 0) return {1.0L, 0.0L, 0.0L};
  for (int n = 2; n <= degree; ++n) {
    const auto k = static_cast<Long>(n);
    const Long next = ((2.0L * k - 1.0L) * x * current - (k - 1.0L) * previous) / k;
    previous = current;
    current = next;
  }
  const auto n = static_cast<Long>(degree);
  const Long first = n * (previous - x * current) / (1.0L - x * x);
  return {current, first, (2.0L * x * first - n * (n + 1.0L) * current) / (1.0L - x * x)};
}

/// Newton's method; it converges in a few iterations from the guesses below.
template <class Correction>
Long root(Long x, Correction&& correction) {
  for (int i = 0; i < 20; ++i) x -= correction(x);
  return x;
}

/// Coefficients of the polynomial that is 1 at node `j` and 0 at the others, by rising power.
std::vector<Long> lagrange(const Eigen::VectorXd& nodes, Eigen::Index j) {
  std::vector<Long> polynomial = {1.0L};
  for (Eigen::Index k = 0; k < nodes.size(); ++k) {
    if (k == j) continue;
    const Long scale = 1.0L / (static_cast<Long>(nodes[j]) - static_cast<Long>(nodes[k]));
    std::vector<Long> next(polynomial.size() + 1, 0.0L);
    for (std::size_t i = 0; i < polynomial.size(); ++i) {
      next[i + 1] += scale * polynomial[i];
      next[i] -= scale * static_cast<Long>(nodes[k]) * polynomial[i];
    }
    polynomial = std::move(next);
  }
  return polynomial;
}

double integral(const std::vector<Long>& polynomial, Long end) {
  Long sum = 0.0L;
  for (std::size_t i = polynomial.size(); i-- > 0;) sum = (sum + polynomial[i] / static_cast<Long>(i + 1)) * end;
  return static_cast<double>(sum);
}

}  // namespace

Eigen::VectorXd gauss_nodes(int stages) {
  Eigen::VectorXd nodes(stages);
  for (int i = 0; i < stages; ++i) {
    const Long guess = -std::cos(std::numbers::pi_v<Long> * (i + 0.75L) / (stages + 0.5L));
    const Long x = root(guess, [&](Long z) {
      const Legendre p = legendre(stages, z);
      return p.value / p.first;
    });
    nodes[i] = static_cast<double>(0.5L * (1.0L + x));
  }
  return nodes;
}

Eigen::VectorXd lobatto_nodes(int stages) {
  Eigen::VectorXd nodes(stages);
  nodes[0] = 0.0;
  nodes[stages - 1] = 1.0;
  for (int i = 1; i < stages - 1; ++i) {
    const Long guess = -std::cos(std::numbers::pi_v<Long> * i / (stages - 1.0L));
    const Long x = root(guess, [&](Long z) {
      const Legendre p = legendre(stages - 1, z);
      return p.first / p.second;
    });
    nodes[i] = static_cast<double>(0.5L * (1.0L + x));
  }
  return nodes;
}

Eigen::MatrixXd collocation_matrix(const Eigen::VectorXd& nodes) {
  Eigen::MatrixXd a(nodes.size(), nodes.size());
  for (Eigen::Index j = 0; j < nodes.size(); ++j) {
    const std::vector<Long> polynomial = lagrange(nodes, j);
    for (Eigen::Index i = 0; i < nodes.size(); ++i) a(i, j) = integral(polynomial, nodes[i]);
  }
  return a;
}

Eigen::VectorXd collocation_weights(const Eigen::VectorXd& nodes) {
  Eigen::VectorXd b(nodes.size());
  for (Eigen::Index j = 0; j < nodes.size(); ++j) b[j] = integral(lagrange(nodes, j), 1.0L);
  return b;
}

Eigen::MatrixXd symplectic_partner(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  Eigen::MatrixXd partner(a.rows(), a.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < a.cols(); ++j) partner(i, j) = b[j] * (1.0 - a(j, i) / b[i]);
  }
  return partner;
}

}  // namespace bathline
