// What a fit says about its parameters: intervals, correlations, and combinations that the data do not determine.
//
// Of residuals r with independent normal errors of standard deviation s and tangents J at the minimum of |r|^2 the
// parameters have the covariance s^2 (J^T J)^-1, with s^2 = |r|^2/(N - n) where it is not known: Student's t with N - n
// degrees of freedom then gives intervals. J^T J is inverted by the singular values of J with columns of norm 1, which
// depend on no units: their quotient is the condition. Source: seber2003, sections 2.1 and 5.1; vandersluis1969 for the
// scaling; bates1988, section 2.2.3, for the relative offset.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

namespace bathline {

struct FitStatistics {
  double sum_of_squares = 0.0;  ///< |r|^2
  double degrees_of_freedom = 0.0;
  double deviation = 0.0;  ///< s; 1 if it is known
  Eigen::VectorXd standard_error, half_width;
  Eigen::MatrixXd correlation;
  Eigen::VectorXd singular_values;  ///< of J with columns of norm 1, decreasing
  Eigen::VectorXd weakest;          ///< the parameters' change that r sees least, the largest of its entries 1
  double along = 0.0;               ///< the norm of r along the tangents, 0 at the minimum
  double relative_offset = 0.0;     ///< the same over that across them, each over the root of its dimensions
  double condition() const { return singular_values[0] / singular_values[singular_values.size() - 1]; }
};

/// The probability that a variable with the chi^2 distribution of so many degrees of freedom is larger than x.
double chi_squared_probability(double x, double degrees_of_freedom);

/// The probability that the signs of independent errors with a median of 0 change as rarely as those of the residuals
/// from time to time, in any of the observables, whose residuals alternate: that of so few runs of n + m signs, n of
/// which are positive, times the number of observables. Source: wald1940.
double runs_probability(const Eigen::VectorXd& residuals, Eigen::Index observables);

/// Entries of `weakest` are in units of `scales`. `confidence` is the probability of the intervals.
FitStatistics fit_statistics(const Eigen::VectorXd& residuals, const Eigen::MatrixXd& slopes,
                             const Eigen::VectorXd& scales, bool deviation_is_known, double confidence);

}  // namespace bathline
