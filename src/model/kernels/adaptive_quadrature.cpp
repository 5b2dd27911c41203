// A panel is resolved if the last Legendre coefficients of the function on it are negligible and its cosines are slow
// enough for the rule.
// Tested by tests/model/kernels/gauss_rule_bath_test.cpp.
#include "model/kernels/adaptive_quadrature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "solve/dense.hpp"

namespace bathline {

namespace {

constexpr int points = 32;
/// Half the phase of a cosine over a panel: the error of the rule is (24/2)^64/64! = 1e-20, and round-off for its
/// products with functions that are smooth on the panel.
constexpr double max_phase = 24.0;
constexpr std::size_t max_panels = 20'000;
constexpr double roundoff = 1e-16;

bool is_resolved(const std::function<double(double)>& f, const Panel& panel, const PanelAccuracy& accuracy) {
  // The oscillations of polynomials have a constant wavelength in an angle, and a decreasing one towards the edge.
  const auto angle = [&](double x) {
    return std::isfinite(accuracy.edge) ? accuracy.edge * std::asin(std::min(1.0, x / accuracy.edge)) : x;
  };
  const double half = 0.5 * (panel.end - panel.begin);
  if (0.5 * (angle(panel.end) - angle(panel.begin)) * accuracy.oscillation > max_phase) return false;
  Eigen::VectorXd values(points);
  for (int i = 0; i < points; ++i) values[i] = f(node_on(panel, i)) * std::sqrt(panel_rule().weights[i]);
  const Eigen::VectorXd coefficients = panel_rule().vectors.bottomRows(4) * values;
  const double last = coefficients.cwiseAbs().maxCoeff(), size = values.norm();
  // The rule is exact to twice this degree. Near a sharp peak the values themselves have no more digits.
  if (half * last <= roundoff * accuracy.scale || last <= 1e-12 * size) return true;
  if (!accuracy.uncertainty) return false;
  double uncertainty = 0.0;
  for (int i = 0; i < points; ++i) uncertainty = std::max(uncertainty, accuracy.uncertainty(node_on(panel, i)));
  return last <= uncertainty;
}

GaussLegendre make_rule() {
  Eigen::VectorXd off_diagonal(points - 1);
  for (int k = 1; k < points; ++k) off_diagonal[k - 1] = k / std::sqrt(4.0 * k * k - 1.0);
  SymmetricEigen eigen = tridiagonal_eigen(Eigen::VectorXd::Zero(points), off_diagonal);
  GaussLegendre rule{.nodes = std::move(eigen.values), .weights = {}, .vectors = std::move(eigen.vectors)};
  rule.weights = 2.0 * rule.vectors.row(0).cwiseAbs2().transpose();
  for (int i = 0; i < points; ++i) rule.vectors.col(i) *= rule.vectors(0, i) < 0.0 ? -1.0 : 1.0;
  return rule;
}

}  // namespace

const GaussLegendre& panel_rule() {
  static const GaussLegendre rule = make_rule();
  return rule;
}

double node_on(const Panel& panel, Eigen::Index i) {
  return 0.5 * (panel.begin + panel.end) + 0.5 * (panel.end - panel.begin) * panel_rule().nodes[i];
}

std::vector<Panel> adaptive_panels(const std::function<double(double)>& f, const std::vector<double>& kinks,
                                   const PanelAccuracy& accuracy) {
  std::vector<Panel> open, done;
  for (std::size_t i = kinks.size() - 1; i > 0; --i) open.push_back({kinks[i - 1], kinks[i]});
  while (!open.empty()) {
    const Panel panel = open.back();
    open.pop_back();
    // At an unknown jump panels are bisected down to the spacing of floating-point numbers.
    const bool is_point = panel.end - panel.begin <= 8.0 * roundoff * std::abs(panel.end) || panel.end < 1e-280;
    if (is_point || is_resolved(f, panel, accuracy)) {
      done.push_back(panel);
    } else {
      // Towards 0, where f may be a power, panels shrink by factors of 8.
      const double middle = panel.begin == 0.0 ? 0.125 * panel.end : 0.5 * (panel.begin + panel.end);
      open.push_back({middle, panel.end});
      open.push_back({panel.begin, middle});
    }
    if (open.size() + done.size() <= max_panels) continue;
    throw UnsuitableFunction(
        fmt::format("it is not smooth enough, or the horizon is too long: near {:.4g} it needs more than {} Gauss "
                    "rules with {} points",
                    panel.begin, max_panels, points));
  }
  return done;
}

std::vector<Panel> halved(const std::vector<Panel>& panels) {
  std::vector<Panel> parts;
  for (const Panel& panel : panels) {
    const double middle = panel.begin == 0.0 ? 0.125 * panel.end : 0.5 * (panel.begin + panel.end);
    parts.push_back({panel.begin, middle});
    parts.push_back({middle, panel.end});
  }
  return parts;
}

std::vector<WeightedNode> nodes_on(const std::vector<Panel>& panels, const std::function<double(double)>& f) {
  std::vector<WeightedNode> nodes;
  for (const Panel& panel : panels) {
    for (int i = 0; i < points; ++i) {
      const double node = node_on(panel, i);
      const double weight = 0.5 * (panel.end - panel.begin) * panel_rule().weights[i] * f(node);
      if (weight != 0.0) nodes.push_back({node, weight});
    }
  }
  return nodes;
}

}  // namespace bathline
