// Errors of one quantity over a list of steps, and the order fitted to them.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
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
  /// After the fit: how many points it uses.
  std::size_t points() const { return points_; }
  /// After the fit: what speaks against the order, such as "2 of 5 points lie in round-off"; empty where nothing does.
  const std::string& fit_warning() const { return fit_warning_; }

 private:
  void find_fit_warning(std::size_t in_round_off, double least_slope, double largest_slope);

  std::vector<double> mean_, least_, largest_, used_;
  std::size_t points_ = 0;
  std::string fit_warning_;
  double scale_ = 0.0;
  double order_ = std::numeric_limits<double>::quiet_NaN();
};

/// The error of one quantity, as the file has it.
struct Measured {
  std::string name;
  const char* units;
  std::string what;
  MeasuredOrder errors = {};
};

/// Says in the log which fitted orders of `label` something speaks against.
void log_fit_warnings(const std::string& label, std::span<const Measured> all);

}  // namespace bathline
