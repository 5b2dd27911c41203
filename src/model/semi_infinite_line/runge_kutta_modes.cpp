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
  const Eigen::MatrixXcd a = scheme.a.cast<Complex>(), identity = Eigen::MatrixXcd::Identity(stages, stages);
  RungeKuttaModes result{nullptr, Eigen::MatrixXd::Zero(stages, stages)};
  ExponentialModes::Row bases;
  std::vector<ExponentialModes::Row> drives(rows), weights(rows + 1);
  for (const ExponentialTerm& term : exponential_terms) {
    const Complex z = courant * term.exponent(), mode_weight = weight * term.weight;
    const Eigen::MatrixXcd inverse = (identity - z * a).partialPivLu().inverse();
    const Eigen::RowVectorXcd drive_row = scheme.b.cast<Complex>().transpose() * inverse;
    const Eigen::VectorXcd stage_column = inverse.rowwise().sum();
    bases.push_back(1.0 + z * drive_row.sum());
    for (std::size_t i = 0; i < rows; ++i) {
      drives[i].push_back(drive * drive_row[static_cast<Index>(i)]);
      weights[i].push_back(mode_weight * stage_column[static_cast<Index>(i)]);
    }
    weights[rows].push_back(mode_weight);
    result.feedthrough += (mode_weight * drive * inverse * a).real();
  }
  result.modes = std::make_shared<const ExponentialModes>(bases, drives, weights);
  return result;
}

}  // namespace bathline
