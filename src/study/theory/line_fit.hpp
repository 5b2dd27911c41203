// Least-squares fit of a straight line.
#pragma once

#include <vector>

namespace bathline {

struct LineFit {
  double slope;  ///< NaN for fewer than two points
  double error;  ///< its standard error from the scatter about the line; needs three points
};

/// Least squares: y = slope x + constant.
LineFit fit_line(const std::vector<double>& x, const std::vector<double>& y);

/// The same for values at equal distances with correlated residuals: with a correlation r > 0 of neighbouring
/// residuals, n values count as n (1 - r)/(1 + r) independent ones (santer2000), which increases the error by sqrt((1 +
/// r)/(1 - r)).
LineFit fit_trend(const std::vector<double>& x, const std::vector<double>& y);

/// The same with values of known standard errors `error`, which give their weights and that of the slope. NaN where
/// fewer than two x differ.
LineFit fit_weighted_line(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& error);

}  // namespace bathline
