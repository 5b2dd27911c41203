// Nodes of exponentials.
//
// The rules converge as exp(-pi^2/tau) with tau the step of t, as the integrand is analytic for |Im t| < pi/2.
// Tested by tests/model/semi_infinite_line/discrete_kernel_test.cpp.
#include "model/semi_infinite_line/exponential_terms.hpp"

#include <cmath>
#include <numbers>

namespace bathline {

namespace {

using std::numbers::pi;

/// Digits that the rule has to give, as a natural logarithm.
double digits(double courant, double error) { return std::log(1.0 / error) + 4.0 + 2.0 * std::log(1.0 / courant); }

double scale_of(double courant) { return std::numbers::sqrt2 / (pi * courant * courant); }

/// From where on exp(-lag x) leaves nothing of the integral.
double largest_node(double courant, int lag, double error) {
  return (std::log(1.0 / error) + std::log(2.0 * scale_of(courant)) + 1.0) / lag;
}

std::vector<BranchCutNode> nodes_until(double courant, int lag, const KernelAccuracy& accuracy) {
  const double tau = pi * pi / digits(courant, accuracy.error);
  const double largest = largest_node(courant, lag, accuracy.error);
  const auto place = [&](double t) { return std::exp(t - std::exp(-t)) / accuracy.horizon; };
  double t = 0.0;
  while (accuracy.horizon * std::pow(place(t), 1.5) * scale_of(courant) >= 0.25 * accuracy.error) t -= tau;
  std::vector<BranchCutNode> nodes;
  for (t += tau; place(t) < largest; t += tau) nodes.push_back({place(t), tau * place(t) * (1.0 + std::exp(-t))});
  return nodes;
}

std::vector<BranchCutNode> nodes_for_ever(double courant, int lag, const KernelAccuracy& accuracy) {
  const double b = digits(courant, accuracy.error), tau = pi * pi / b;
  const double largest = largest_node(courant, lag, accuracy.error);
  std::vector<BranchCutNode> nodes;
  for (double j = std::floor(b / tau - 1.0);; j -= 1.0) {
    const double root = std::sqrt(b * b - b * tau * j), x = std::exp(-2.0 * (b - root));
    if (x >= largest) return nodes;
    nodes.push_back({x, x * b * tau / root});
  }
}

}  // namespace

std::vector<BranchCutNode> branch_cut_quadrature(double courant, int lag, const KernelAccuracy& accuracy) {
  return accuracy.is_for_ever() ? nodes_for_ever(courant, lag, accuracy) : nodes_until(courant, lag, accuracy);
}

std::complex<double> expm1(std::complex<double> x) {
  const double half = std::sin(0.5 * x.imag()), grown = std::exp(x.real());
  return {std::expm1(x.real()) - 2.0 * half * half * grown, grown * std::sin(x.imag())};
}

}  // namespace bathline
