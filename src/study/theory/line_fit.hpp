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

/// The same through values that follow each other at equal distances, where neighbours may be off to the same side:
/// with a correlation r > 0 of neighbours about the line, n values count for n (1 - r)/(1 + r) independent ones
/// (santer2000), and the error is larger by the root of that.
LineFit fit_trend(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace bathline
