// A straight line through points.
#pragma once

#include <vector>

namespace bathline {

struct LineFit {
  double slope;  ///< NaN where there are fewer than two points
  double error;  ///< its standard error by the scatter about the line, which takes three points
};

/// Least squares: y = slope x + constant.
LineFit fit_line(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace bathline
