// Intervals and identifiability by singular values.
// Tested by tests/study/fit_test.cpp.
#include "study/fit/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "study/theory/stationarity.hpp"

namespace bathline {

using Eigen::MatrixXd;
using Eigen::VectorXd;

FitStatistics fit_statistics(const VectorXd& residuals, const MatrixXd& slopes, const VectorXd& scales,
                             bool deviation_is_known, double confidence) {
  const Eigen::Index n = slopes.cols();
  VectorXd norms = slopes.colwise().norm();
  for (double& norm : norms) norm = norm > 0.0 ? norm : 1.0;
  const Eigen::JacobiSVD<MatrixXd> svd(slopes * norms.cwiseInverse().asDiagonal(),
                                       Eigen::ComputeThinU | Eigen::ComputeThinV);
  FitStatistics statistics;
  statistics.sum_of_squares = residuals.squaredNorm();
  statistics.degrees_of_freedom = static_cast<double>(residuals.size() - n);
  const double deviation = std::sqrt(statistics.sum_of_squares / statistics.degrees_of_freedom);
  statistics.deviation = deviation_is_known ? 1.0 : deviation;
  statistics.singular_values = svd.singularValues();
  const MatrixXd directions = norms.cwiseInverse().asDiagonal() * svd.matrixV();
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
  statistics.along = (svd.matrixU().transpose() * residuals).norm();
  const double across = std::sqrt(std::max(0.0, statistics.sum_of_squares - statistics.along * statistics.along));
  statistics.relative_offset =
      statistics.along / std::sqrt(static_cast<double>(n)) / (across / std::sqrt(statistics.degrees_of_freedom));
  return statistics;
}

}  // namespace bathline
