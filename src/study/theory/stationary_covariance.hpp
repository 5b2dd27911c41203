// Stationary covariances of linear motions with noise.
#pragma once

#include <Eigen/Core>

namespace bathline {

/// X = A X A^T + Q by doubling: 2^k steps after k turns. Throws std::domain_error where powers of A do not vanish.
Eigen::MatrixXd stationary_covariance(Eigen::MatrixXd a, Eigen::MatrixXd q);

/// X with B X + X B^T + Q = 0, that of x' = B x + noise: by the midpoint rule, which has the same at any step.
Eigen::MatrixXd stationary_covariance_continuous(const Eigen::MatrixXd& b, const Eigen::MatrixXd& q);

}  // namespace bathline
