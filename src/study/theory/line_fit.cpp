// Least-squares fit of a straight line.
#include "study/theory/line_fit.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>

namespace bathline {

namespace {

struct Fit {
  double slope = 0.0;
  double xx = 0.0;                ///< weighted sum of the squared deviations from the mean x
  std::vector<double> residuals;  ///< y minus the line
};

Fit least_squares(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& weight) {
  const double weights = std::accumulate(weight.begin(), weight.end(), 0.0);
  double mean_x = 0.0, mean_y = 0.0, xy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] * weight[i] / weights;
    mean_y += y[i] * weight[i] / weights;
  }
  Fit fit;
  for (std::size_t i = 0; i < x.size(); ++i) {
    fit.xx += weight[i] * (x[i] - mean_x) * (x[i] - mean_x);
    xy += weight[i] * (x[i] - mean_x) * (y[i] - mean_y);
  }
  fit.slope = xy / fit.xx;
  for (std::size_t i = 0; i < x.size(); ++i) fit.residuals.push_back(y[i] - mean_y - fit.slope * (x[i] - mean_x));
  return fit;
}

Fit least_squares(const std::vector<double>& x, const std::vector<double>& y) {
  return least_squares(x, y, std::vector<double>(x.size(), 1.0));
}

double sum_of_squares(const std::vector<double>& values) {
  double sum = 0.0;
  for (double value : values) sum += value * value;
  return sum;
}

/// Correlation of neighbouring values; 0 where it is negative.
double correlation(const std::vector<double>& values) {
  double products = 0.0;
  for (std::size_t i = 1; i < values.size(); ++i) products += values[i - 1] * values[i];
  return products > 0.0 ? products / sum_of_squares(values) : 0.0;
}

double standard_error(const Fit& fit) {
  const auto n = static_cast<double>(fit.residuals.size());
  return std::sqrt(sum_of_squares(fit.residuals) / (n - 2.0) / fit.xx);
}

}  // namespace

LineFit fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  const Fit fit = least_squares(x, y);
  return {.slope = fit.slope, .error = standard_error(fit)};
}

LineFit fit_trend(const std::vector<double>& x, const std::vector<double>& y) {
  const Fit fit = least_squares(x, y);
  const double r = correlation(fit.residuals);
  return {.slope = fit.slope, .error = standard_error(fit) * std::sqrt((1.0 + r) / (1.0 - r))};
}

LineFit fit_weighted_line(const std::vector<double>& x, const std::vector<double>& y,
                          const std::vector<double>& error) {
  std::vector<double> weight;
  for (const double each : error) weight.push_back(1.0 / (each * each));
  const Fit fit = least_squares(x, y, weight);
  return {.slope = fit.slope, .error = 1.0 / std::sqrt(fit.xx)};
}

}  // namespace bathline
