// Slow oscillations are integrated by the rule of the panel, fast ones by the upward recurrence of j_k, which is stable
// as long as k is not far above y.
// Tested by tests/model/kernels/exponential_fit_test.cpp.
#include "model/kernels/piecewise_legendre.hpp"

#include <cmath>

namespace bathline {

namespace {

using Complex = std::complex<double>;

/// Half the phase over a panel up to which the rule is exact to round-off (adaptive_quadrature.cpp).
constexpr double slow_phase = 24.0;

}  // namespace

PiecewiseLegendre::PiecewiseLegendre(const std::function<double(double)>& f, const std::vector<Panel>& panels) {
  const GaussLegendre& rule = panel_rule();
  const Eigen::Index points = rule.nodes.size();
  for (const Panel& panel : panels) {
    Part part{0.5 * (panel.begin + panel.end), 0.5 * (panel.end - panel.begin), Eigen::VectorXd(points), {}};
    for (Eigen::Index i = 0; i < points; ++i) part.values[i] = f(node_on(panel, i));
    if (part.values.isZero(0.0)) continue;
    part.coefficients = rule.vectors * part.values.cwiseProduct(rule.weights.cwiseSqrt());
    for (Eigen::Index k = 0; k < points; ++k) part.coefficients[k] *= std::sqrt(4.0 * static_cast<double>(k) + 2.0);
    part.values = part.values.cwiseProduct(rule.weights);
    parts_.push_back(std::move(part));
  }
}

Complex PiecewiseLegendre::fourier(double y) const {
  const Eigen::VectorXd& nodes = panel_rule().nodes;
  Complex all = 0.0;
  for (const Part& part : parts_) {
    const double phase = y * part.half;
    Complex sum = 0.0;
    if (phase <= slow_phase) {
      for (Eigen::Index i = 0; i < nodes.size(); ++i) sum += part.values[i] * std::polar(1.0, -phase * nodes[i]);
    } else {
      double previous = std::sin(phase) / phase, current = (previous - std::cos(phase)) / phase;
      Complex factor(0.0, -1.0);
      sum = part.coefficients[0] * previous;
      for (Eigen::Index k = 1; k < nodes.size(); ++k) {
        sum += part.coefficients[k] * current * factor;
        factor *= Complex(0.0, -1.0);
        const double next = (2.0 * static_cast<double>(k) + 1.0) / phase * current - previous;
        previous = current;
        current = next;
      }
    }
    all += part.half * sum * std::polar(1.0, -y * part.middle);
  }
  return all;
}

// Positions are stored relative to 0 and to the pole at x = Im s, so that distances to both are accurate.
Complex laplace_transform(const std::function<double(double)>& f, const std::vector<Panel>& panels, Complex s) {
  struct Part {
    Panel panel, from_pole;
  };
  // Required distance of the pole, as the sum of the semi-axes of an ellipse around the panel: the error is 1.9^-64 =
  // 1e-18.
  constexpr double min_axes = 1.9;
  const GaussLegendre& rule = panel_rule();
  const double origin = s.imag();
  std::vector<Part> open;
  for (const Panel& panel : panels) open.push_back({panel, {panel.begin - origin, panel.end - origin}});
  Complex sum = 0.0;
  while (!open.empty()) {
    const auto [panel, from_pole] = open.back();
    open.pop_back();
    const double half = 0.5 * (panel.end - panel.begin), middle = 0.5 * (from_pole.begin + from_pole.end);
    const Complex pole = Complex(-middle, s.real()) / half;
    const double axes = std::abs(pole + std::sqrt(pole * pole - 1.0));
    if (std::max(axes, 1.0 / axes) < min_axes) {
      const double centre = 0.5 * (panel.begin + panel.end);
      open.push_back({{panel.begin, centre}, {from_pole.begin, middle}});
      open.push_back({{centre, panel.end}, {middle, from_pole.end}});
      continue;
    }
    for (Eigen::Index i = 0; i < rule.nodes.size(); ++i) {
      const double x = node_on(panel, i), distance = node_on(from_pole, i);
      sum += half * rule.weights[i] * f(x) * s / (Complex(s.real(), -distance) * (s + Complex(0.0, x)));
    }
  }
  return sum;
}

}  // namespace bathline
