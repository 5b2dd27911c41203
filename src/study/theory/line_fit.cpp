// A straight line through points.
#include "study/theory/line_fit.hpp"

#include <cmath>

namespace bathline {

LineFit fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0, rest = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  const double slope = xy / xx;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = y[i] - mean_y - slope * (x[i] - mean_x);
    rest += off * off;
  }
  return {.slope = slope, .error = std::sqrt(rest / (n - 2.0) / xx)};
}

}  // namespace bathline
