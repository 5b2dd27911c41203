// One pass over the values of a claim's quantity.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace bathline {

/// Everything that a claim may ask of a set of values, each with the coordinate (time) of its row. Means and slope are
/// updated value by value around the running mean (Welford), so that a small drift of a large energy keeps its digits.
class Statistic {
 public:
  void add(double coordinate, std::span<const double> row);

  std::int64_t count() const { return count_; }
  double first() const { return first_; }
  bool has_slope() const { return coordinate_variation_ > 0.0; }
  /// Coordinate of the first NaN.
  const std::optional<double>& undefined_at() const { return undefined_at_; }
  /// `name` is one of `statistics()`; another throws std::logic_error.
  double value(const std::string& name) const;

 private:
  std::int64_t count_ = 0;
  double first_ = 0.0, last_ = 0.0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  double min_at_ = 0.0, max_at_ = 0.0;  // coordinates of their first values
  double mean_ = 0.0, mean_square_ = 0.0, mean_coordinate_ = 0.0;
  double coordinate_variation_ = 0.0;  // sum (t - mean t)^2
  double covariation_ = 0.0;           // sum (t - mean t) (x - mean x)
  std::optional<double> undefined_at_;
};

}  // namespace bathline
