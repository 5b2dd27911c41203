// Intervals and identifiability by singular values.
// Tested by tests/study/fit_test.cpp.
#include "study/fit/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/SpecialFunctions>

#include "solve/dense.hpp"
#include "study/theory/stationarity.hpp"

namespace bathline {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// ln C(n, k), -infinity where there is no choice.
double log_choices(double n, double k) {
  if (k < 0.0 || k > n) return -std::numeric_limits<double>::infinity();
  return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
}

/// The probability of at most so many runs of n positive and m negative signs in any order.
double probability_of_runs(int runs, int n, int m) {
  if (n == 0 || m == 0) return std::exp2(1.0 - n - m);  // all signs are equal, which no order changes
  double sum = 0.0;
  for (int r = 2; r <= runs; ++r) {
    const int half = r / 2;
    const auto ways = [&](int a, int b) {
      return std::exp(log_choices(n - 1, a - 1) + log_choices(m - 1, b - 1) - log_choices(n + m, n));
    };
    sum += r % 2 == 0 ? 2.0 * ways(half, half) : ways(half + 1, half) + ways(half, half + 1);
  }
  return std::min(1.0, sum);
}

}  // namespace

double chi_squared_probability(double x, double degrees_of_freedom) {
  return Eigen::numext::igammac(0.5 * degrees_of_freedom, 0.5 * x);
}

double runs_probability(const VectorXd& residuals, Eigen::Index observables) {
  double lowest = 1.0;
  for (Eigen::Index first = 0; first < observables; ++first) {
    int runs = 0, positive = 0, negative = 0, last = 0;
    for (Eigen::Index i = first; i < residuals.size(); i += observables) {
      if (residuals[i] == 0.0) continue;
      const int sign = residuals[i] > 0.0 ? 1 : -1;
      ++(sign > 0 ? positive : negative);
      if (sign != last) ++runs;
      last = sign;
    }
    if (runs > 0) lowest = std::min(lowest, probability_of_runs(runs, positive, negative));
  }
  return std::min(1.0, lowest * static_cast<double>(observables));
}

FitStatistics fit_statistics(const VectorXd& residuals, const MatrixXd& slopes, const VectorXd& scales,
                             bool deviation_is_known, double confidence) {
  const Eigen::Index n = slopes.cols();
  VectorXd norms = slopes.colwise().norm();
  for (double& norm : norms) norm = norm > 0.0 ? norm : 1.0;
  const SingularValues svd = singular_values(slopes * norms.cwiseInverse().asDiagonal());
  FitStatistics statistics;
  statistics.sum_of_squares = residuals.squaredNorm();
  statistics.degrees_of_freedom = static_cast<double>(residuals.size() - n);
  const double deviation = std::sqrt(statistics.sum_of_squares / statistics.degrees_of_freedom);
  statistics.deviation = deviation_is_known ? 1.0 : deviation;
  statistics.singular_values = svd.values;
  const MatrixXd directions = norms.cwiseInverse().asDiagonal() * svd.v;
  const MatrixXd factor = statistics.deviation * directions * statistics.singular_values.cwiseInverse().asDiagonal();
  statistics.standard_error = factor.rowwise().norm();
  const VectorXd inverse = statistics.standard_error.cwiseInverse();
  statistics.correlation = inverse.asDiagonal() * (factor * factor.transpose()) * inverse.asDiagonal();
  const double degrees_of_freedom =
      deviation_is_known ? std::numeric_limits<double>::infinity() : statistics.degrees_of_freedom;
  statistics.half_width = students_quantile(1.0 - confidence, degrees_of_freedom) * statistics.standard_error;
  statistics.weakest = directions.col(n - 1).cwiseQuotient(scales);
  Eigen::Index largest = 0;
  statistics.weakest.cwiseAbs().maxCoeff(&largest);
  statistics.weakest /= double(statistics.weakest[largest]);
  statistics.along = (svd.u.transpose() * residuals).norm();
  const double across = std::sqrt(std::max(0.0, statistics.sum_of_squares - statistics.along * statistics.along));
  statistics.relative_offset =
      statistics.along / std::sqrt(static_cast<double>(n)) / (across / std::sqrt(statistics.degrees_of_freedom));
  return statistics;
}

}  // namespace bathline
