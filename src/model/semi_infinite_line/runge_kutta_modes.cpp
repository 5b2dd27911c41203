// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include "model/semi_infinite_line/runge_kutta_modes.hpp"

#include <Eigen/LU>

namespace bathline {

RungeKuttaModes make_runge_kutta_modes(const std::vector<ExponentialTerm>& exponential_terms,
                                       const PartitionedRungeKutta& scheme, double courant, double drive,
                                       double weight) {
  using Complex = std::complex<double>;
  using Eigen::Index;
  const Index stages = scheme.stages();
  const auto rows = static_cast<std::size_t>(stages);
  const Eigen::MatrixXcd a = scheme.a.cast<Complex>(), one = Eigen::MatrixXcd::Identity(stages, stages);
  RungeKuttaModes made{nullptr, Eigen::MatrixXd::Zero(stages, stages)};
  ExponentialModes::Row bases;
  std::vector<ExponentialModes::Row> drives(rows), weights(rows + 1);
  for (const ExponentialTerm& decay : exponential_terms) {
    const Complex z = courant * decay.exponent(), of_mode = weight * decay.weight;
    const Eigen::MatrixXcd inverse = (one - z * a).partialPivLu().inverse();
    const Eigen::RowVectorXcd driven = scheme.b.cast<Complex>().transpose() * inverse;
    const Eigen::VectorXcd stage = inverse.rowwise().sum();
    bases.push_back(1.0 + z * driven.sum());
    for (std::size_t i = 0; i < rows; ++i) {
      drives[i].push_back(drive * driven[static_cast<Index>(i)]);
      weights[i].push_back(of_mode * stage[static_cast<Index>(i)]);
    }
    weights[rows].push_back(of_mode);
    made.feedthrough += (of_mode * drive * inverse * a).real();
  }
  made.modes = std::make_shared<const ExponentialModes>(bases, drives, weights);
  return made;
}

}  // namespace bathline
