// Matrix exponentials and Gramians of linear systems x' = A x.
#pragma once

#include <Eigen/Core>

namespace bathline {

/// E(t) = exp(A t), and G(t), the integral of e^{r (t - s)} E(s)^T Q E(s) over s from 0 to t.
///
/// With r = 0 and the power x^T Q x this is the work x^T G x of the motion from x, and with A^T for A the covariance of
/// the noise of covariance Q. Entries are accurate relative to themselves, in any units, but for what their own terms
/// cancel. All matrices are square and of one size; Q may be empty, then so is G. Without finite A, r and t the
/// results are NaN.
struct LinearFlow {
  Eigen::MatrixXd exponential, gramian;
};
LinearFlow linear_flow(const Eigen::MatrixXd& a, double t, const Eigen::MatrixXd& q = {}, double r = 0.0);

/// The exponential of a square matrix.
inline Eigen::MatrixXd matrix_exponential(const Eigen::MatrixXd& matrix) {
  return linear_flow(matrix, 1.0).exponential;
}

}  // namespace bathline
