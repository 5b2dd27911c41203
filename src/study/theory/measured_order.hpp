// Errors of a quantity over a list of steps, and the order fitted to them.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace bathline {

/// For every step, in falling order: the mean, the smallest and the largest error over all starts.
class MeasuredOrder {
 public:
  void begin_step();
  /// Adds the error of one of `starts` starts for the current step; `exact` is the size of the exact quantity,
  /// `reference` the estimated error of the reference.
  void add(double error, double exact, std::size_t starts, double reference = 0.0);
  /// Fits log(error) = order log(step) + constant to the mean errors at time `end`.
  void fit(const std::vector<double>& steps, double end);

  const std::vector<double>& mean() const { return mean_; }
  const std::vector<double>& min() const { return min_; }
  const std::vector<double>& max() const { return max_; }
  /// The estimated error of the reference, mean over all starts.
  const std::vector<double>& reference() const { return reference_; }
  /// After the fit: 1 if it uses the point, 0 otherwise.
  const std::vector<double>& used() const { return used_; }
  /// After the fit: the order; NaN if fewer than two points can be fitted.
  const double& order() const { return order_; }
  /// After the fit: the number of points used.
  std::size_t points() const { return points_; }
  /// After the fit: why points are not fitted, such as "round-off, error of the reference"; empty if all are.
  const std::string& not_fitted() const { return not_fitted_; }
  /// After the fit: reasons to doubt the order, such as "2 of 5 points not fitted (round-off)"; empty if there are
  /// none.
  const std::string& fit_warning() const { return fit_warning_; }

 private:
  void find_fit_warning(double min_slope, double max_slope);

  std::vector<double> mean_, min_, max_, reference_, used_;
  std::size_t points_ = 0;
  std::string not_fitted_, fit_warning_;
  double scale_ = 0.0;
  double order_ = std::numeric_limits<double>::quiet_NaN();
};

/// The errors of a quantity, with its name in the result file.
struct Measured {
  std::string name;
  const char* units;
  std::string what;
  MeasuredOrder errors = {};
};

/// Logs the fitted orders of `label` that have warnings.
void log_fit_warnings(const std::string& label, std::span<const Measured> all);

}  // namespace bathline
