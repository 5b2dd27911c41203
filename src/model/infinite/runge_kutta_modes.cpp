// Tested by tests/model/infinite/infinite_line_test.cpp.
#include "model/infinite/runge_kutta_modes.hpp"

#include <Eigen/LU>

namespace bathline {

RungeKuttaModes make_runge_kutta_modes(const std::vector<Decay>& decays, const CollocationScheme& scheme,
                                       double courant, double drive, double weight) {
  using Complex = std::complex<double>;
  using Eigen::Index;
  const Index stages = scheme.stages();
  const auto rows = static_cast<std::size_t>(stages);
  const Eigen::MatrixXcd a = scheme.a.cast<Complex>(), one = Eigen::MatrixXcd::Identity(stages, stages);
  RungeKuttaModes made{nullptr, Eigen::MatrixXd::Zero(stages, stages)};
  Modes::Row bases;
  std::vector<Modes::Row> drives(rows), weights(rows + 1);
  for (const Decay& decay : decays) {
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
    made.at_once += (of_mode * drive * inverse * a).real();
  }
  made.modes = std::make_shared<const Modes>(bases, drives, weights);
  return made;
}

}  // namespace bathline
