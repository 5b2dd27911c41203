// Quadrature nodes that give the exponentials.
//
// The rules converge as exp(-pi^2/tau) with tau the step of t, as the integrand is analytic for |Im t| < pi/2.
// Tested by tests/model/semi_infinite_line/discrete_kernel_test.cpp.
#include "model/semi_infinite_line/exponential_terms.hpp"

#include <cmath>
#include <numbers>

namespace bathline {

namespace {

using std::numbers::pi;

/// Accuracy of the rule, as a natural logarithm.
double log_accuracy(double courant, double error) {
  return std::log(1.0 / error) + 4.0 + 2.0 * std::log(1.0 / courant);
}

double scale_of(double courant) { return std::numbers::sqrt2 / (pi * courant * courant); }

/// Beyond this x the integrand is negligible because of exp(-lag x).
double max_node(double courant, int lag, double error) {
  return (std::log(1.0 / error) + std::log(2.0 * scale_of(courant)) + 1.0) / lag;
}

std::vector<BranchCutNode> nodes_to_horizon(double courant, int lag, const KernelAccuracy& accuracy) {
  const double tau = pi * pi / log_accuracy(courant, accuracy.error);
  const double max_x = max_node(courant, lag, accuracy.error);
  const auto position = [&](double t) { return std::exp(t - std::exp(-t)) / accuracy.horizon; };
  double t = 0.0;
  while (accuracy.horizon * std::pow(position(t), 1.5) * scale_of(courant) >= 0.25 * accuracy.error) t -= tau;
  std::vector<BranchCutNode> nodes;
  for (t += tau; position(t) < max_x; t += tau)
    nodes.push_back({position(t), tau * position(t) * (1.0 + std::exp(-t))});
  return nodes;
}

std::vector<BranchCutNode> nodes_forever(double courant, int lag, const KernelAccuracy& accuracy) {
  const double b = log_accuracy(courant, accuracy.error), tau = pi * pi / b;
  const double max_x = max_node(courant, lag, accuracy.error);
  std::vector<BranchCutNode> nodes;
  for (double j = std::floor(b / tau - 1.0);; j -= 1.0) {
    const double root = std::sqrt(b * b - b * tau * j), x = std::exp(-2.0 * (b - root));
    if (x >= max_x) return nodes;
    nodes.push_back({x, x * b * tau / root});
  }
}

}  // namespace

std::vector<BranchCutNode> branch_cut_quadrature(double courant, int lag, const KernelAccuracy& accuracy) {
  return accuracy.is_forever() ? nodes_forever(courant, lag, accuracy) : nodes_to_horizon(courant, lag, accuracy);
}

std::complex<double> expm1(std::complex<double> x) {
  const double half = std::sin(0.5 * x.imag()), growth = std::exp(x.real());
  return {std::expm1(x.real()) - 2.0 * half * half * growth, growth * std::sin(x.imag())};
}

}  // namespace bathline
