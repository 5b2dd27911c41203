// Stationary covariances of linear systems with noise.
#pragma once

#include <Eigen/Core>

namespace bathline {

/// Solves X = A X A^T + Q by doubling, 2^k steps after k iterations. Throws std::domain_error where powers of A do not
/// vanish.
Eigen::MatrixXd stationary_covariance(Eigen::MatrixXd a, Eigen::MatrixXd q);

/// Solves B X + X B^T + Q = 0, for x' = B x + noise, by the midpoint rule, whose covariance is the same at any step.
Eigen::MatrixXd stationary_covariance_continuous(const Eigen::MatrixXd& b, const Eigen::MatrixXd& q);

}  // namespace bathline
