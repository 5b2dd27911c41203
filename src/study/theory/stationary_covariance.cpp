// Stationary covariances of linear systems with noise.
// Tested by tests/study/covariance_test.cpp.
#include "study/theory/stationary_covariance.hpp"

#include <Eigen/LU>
#include <stdexcept>

namespace bathline {

using Eigen::MatrixXd;

MatrixXd stationary_covariance(MatrixXd a, MatrixXd q) {
  // Up to 2^40 = 10^12 steps.
  for (int iteration = 0; iteration < 40; ++iteration) {
    const MatrixXd increment = a * q * a.transpose();
    if (!increment.allFinite()) break;
    q += increment;
    if (increment.norm() <= 1e-18 * q.norm()) return 0.5 * (q + q.transpose());
    a = a * a;
  }
  throw std::domain_error("no stationary state");
}

MatrixXd stationary_covariance_continuous(const MatrixXd& b, const MatrixXd& q) {
  const double h = 1.0 / b.cwiseAbs().rowwise().sum().maxCoeff();
  const MatrixXd identity = MatrixXd::Identity(b.rows(), b.cols());
  const Eigen::PartialPivLU<MatrixXd> solver(identity - 0.5 * h * b);
  const MatrixXd half = solver.solve(h * q);
  return stationary_covariance(solver.solve(identity + 0.5 * h * b), solver.solve(half.transpose()));
}

}  // namespace bathline
