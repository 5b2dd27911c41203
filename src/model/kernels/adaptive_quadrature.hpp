// Integrals of functions of unknown shape against cosines: Gauss-Legendre rules on panels that find where the function
// is not smooth.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace bathline {

/// Why something is not the kernel or the density of an environment, in a sentence.
class UnsuitableFunction : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Panel {
  double begin, end;
};

/// A place and the integral that it stands for: its weight times the function there.
struct WeightedNode {
  double place, weight;
};

struct PanelAccuracy {
  double scale = 1.0;        ///< of the integral: what is 1e-16 of that does not matter
  double oscillation = 0.0;  ///< of the cosines: sum of f(x) cos(y x) is the integral for all |y| up to this
  /// Where it is finite, of polynomials of the degree `oscillation` times this as well, which stay bounded up to here.
  double edge = std::numeric_limits<double>::infinity();
  /// How well f is known at x; nothing where that is to round-off.
  std::function<double(double)> uncertainty = nullptr;
};

/// The Gauss-Legendre rule on [-1, 1] that panels have.
struct GaussLegendre {
  Eigen::VectorXd nodes, weights;
  /// Row k holds the orthonormal polynomial of degree k at the nodes, times the root of the weights.
  Eigen::MatrixXd vectors;
};
const GaussLegendre& panel_rule();
/// Place of the node with that number.
double node_on(const Panel& panel, Eigen::Index i);

/// Panels for the integral of `f` from the first of `kinks` to the last. At 0, and there alone, f may be infinite.
/// Throws UnsuitableFunction where f has no integral, or one that would take too many panels.
std::vector<Panel> adaptive_panels(const std::function<double(double)>& f, const std::vector<double>& kinks,
                                   const PanelAccuracy& accuracy);
/// Each cut into two.
std::vector<Panel> halved(const std::vector<Panel>& panels);
/// Nodes of the panels; those of weight 0 are left out.
std::vector<WeightedNode> nodes_on(const std::vector<Panel>& panels, const std::function<double(double)>& f);

}  // namespace bathline
