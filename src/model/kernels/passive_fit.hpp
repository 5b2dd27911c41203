// The nearest passive kernel: a sum of decaying cosines with stiffnesses that are not negative.
//
//   minimise over k_j >= 0, r_j > 0 and w_j >= 0:  integral (gamma(t) - sum_j k_j exp(-r_j t) cos(w_j t))^2 exp(-2 t/T)
//   dt
//
// with T the horizon. Every such sum is passive and has noise term by term. Terms are added one by one, where the
// residual has its largest product with a term of norm 1; after each the k_j are those of non-negative least squares,
// and rates and frequencies are improved one by one. The fit ends as soon as its distance is within the tolerance, so
// that noise of the kernel is not fitted. Source: lawson1974, chapter 23, for non-negative least squares; denoyelle2019
// for terms off the grid.
#pragma once

#include <functional>
#include <vector>

#include "model/kernels/exponential_fit.hpp"

namespace bathline {

/// Thrown where no passive kernel is within the tolerance.
class TooFarFromPassive : public UnsuitableFunction {
 public:
  TooFarFromPassive(const std::string& message, double tolerance)
      : UnsuitableFunction(message), sufficient_tolerance(tolerance) {}
  double sufficient_tolerance;  ///< a tolerance of two digits that few terms reach
};

/// The fit to a kernel, with `kinks` as in SpectralDensity, in s. Its distance is the integral of the absolute values
/// of the difference until the horizon, over that of the kernel. Throws UnsuitableFunction.
ExponentialSum fit_passive(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
                           const BathAccuracy& accuracy);

/// The k >= 0 that minimise k^T gram k/2 - products^T k, for a positive semi-definite matrix.
Eigen::VectorXd nonnegative_least_squares(const Eigen::MatrixXd& gram, const Eigen::VectorXd& products);

}  // namespace bathline
