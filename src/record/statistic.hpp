// The statistics of a claim's quantity, computed in one pass.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace bathline {

/// All statistics of a set of values, each with the coordinate (time) of its row. Means and slope are updated around
/// the running mean (Welford), so that a small drift of a large energy keeps its significant digits.
class Statistic {
 public:
  void add(double coordinate, std::span<const double> row);

  std::int64_t count() const { return count_; }
  double first() const { return first_; }
  bool has_slope() const { return coordinate_variation_ > 0.0; }
  /// Coordinate of the first NaN.
  const std::optional<double>& undefined_at() const { return undefined_at_; }
  /// The statistic `name` of `statistics()`; throws std::logic_error for another name.
  double value(const std::string& name) const;

 private:
  std::int64_t count_ = 0;
  double first_ = 0.0, last_ = 0.0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  double min_at_ = 0.0, max_at_ = 0.0;  // coordinates of the first such values
  double mean_ = 0.0, mean_square_ = 0.0, mean_coordinate_ = 0.0;
  double coordinate_variation_ = 0.0;  // sum (t - mean t)^2
  double covariation_ = 0.0;           // sum (t - mean t) (x - mean x)
  std::optional<double> undefined_at_;
};

}  // namespace bathline
