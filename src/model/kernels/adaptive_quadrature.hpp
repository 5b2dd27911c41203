// Adaptive quadrature of functions of unknown shape times cosines: Gauss-Legendre rules on adaptively bisected panels.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace bathline {

/// Thrown where a function is not the kernel or the density of an environment; the message gives the reason.
class UnsuitableFunction : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Panel {
  double begin, end;
};

/// A quadrature node, and its quadrature weight times the function there.
struct WeightedNode {
  double position, weight;
};

struct PanelAccuracy {
  double scale = 1.0;        ///< size of the integral; 1e-16 of it is negligible
  double oscillation = 0.0;  ///< the rule integrates f(x) cos(y x) for all |y| up to this
  /// If finite: the rule also integrates f times polynomials of degree `oscillation` times this, bounded on [0, edge].
  double edge = std::numeric_limits<double>::infinity();
  /// Error of f at x; empty if it is round-off.
  std::function<double(double)> uncertainty = nullptr;
};

/// The Gauss-Legendre rule of the panels on [-1, 1].
struct GaussLegendre {
  Eigen::VectorXd nodes, weights;
  /// Row k is the orthonormal polynomial of degree k at the nodes, times the square roots of the weights.
  Eigen::MatrixXd vectors;
};
const GaussLegendre& panel_rule();
/// Position of node `i`.
double node_on(const Panel& panel, Eigen::Index i);

/// Panels for the integral of `f` from the first of `kinks` to the last. Only at 0 f may be infinite.
/// Throws UnsuitableFunction where f has no integral, or one that would take too many panels.
std::vector<Panel> adaptive_panels(const std::function<double(double)>& f, const std::vector<double>& kinks,
                                   const PanelAccuracy& accuracy);
/// Each panel bisected.
std::vector<Panel> halved(const std::vector<Panel>& panels);
/// Nodes of all panels, without those of weight 0.
std::vector<WeightedNode> nodes_on(const std::vector<Panel>& panels, const std::function<double(double)>& f);

}  // namespace bathline
