// Stationary covariances of linear motions with noise.
// Tested by tests/study/covariance_test.cpp.
#include "study/theory/stationary_covariance.hpp"

#include <Eigen/LU>
#include <stdexcept>

namespace bathline {

using Eigen::MatrixXd;

MatrixXd stationary_covariance(MatrixXd a, MatrixXd q) {
  // Whatever relaxes within 10^12 steps.
  for (int turn = 0; turn < 40; ++turn) {
    const MatrixXd more = a * q * a.transpose();
    if (!more.allFinite()) break;
    q += more;
    if (more.norm() <= 1e-18 * q.norm()) return 0.5 * (q + q.transpose());
    a = a * a;
  }
  throw std::domain_error("nothing is stationary here");
}

MatrixXd stationary_covariance_continuous(const MatrixXd& b, const MatrixXd& q) {
  const double h = 1.0 / b.cwiseAbs().rowwise().sum().maxCoeff();
  const MatrixXd one = MatrixXd::Identity(b.rows(), b.cols());
  const Eigen::PartialPivLU<MatrixXd> solver(one - 0.5 * h * b);
  const MatrixXd half = solver.solve(h * q);
  return stationary_covariance(solver.solve(one + 0.5 * h * b), solver.solve(half.transpose()));
}

}  // namespace bathline
