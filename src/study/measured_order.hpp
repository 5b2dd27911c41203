// Errors of one quantity over a list of steps, and the order fitted to them.
#pragma once

#include <limits>
#include <vector>

namespace bathline {

/// By step, from the largest to the smallest: the mean error over all starts, the least and the largest.
class MeasuredOrder {
 public:
  void begin_step();
  /// An error of one of `starts` starts with the step begun last; `exact` is the size of the exact quantity.
  void add(double error, double exact, std::size_t starts);
  /// Fits log(error) = order log(step) + constant to the mean errors at time `end`.
  void fit(const std::vector<double>& steps, double end);

  const std::vector<double>& mean() const { return mean_; }
  const std::vector<double>& least() const { return least_; }
  const std::vector<double>& largest() const { return largest_; }
  /// After the fit: 1 where it uses the point.
  const std::vector<double>& used() const { return used_; }
  /// After the fit: NaN where fewer than two points stand above the round-off.
  const double& order() const { return order_; }

 private:
  std::vector<double> mean_, least_, largest_, used_;
  double scale_ = 0.0;
  double order_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace bathline
