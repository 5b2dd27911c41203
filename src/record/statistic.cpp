// Running extrema, means and the least-squares slope.
// Tested by tests/record/claims_test.cpp.
#include "record/statistic.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bathline {

void Statistic::add(double coordinate, std::span<const double> row) {
  for (const double x : row) {
    if (std::isnan(x) && !undefined_at_) undefined_at_ = coordinate;
    if (count_ == 0) first_ = x;
    last_ = x;
    if (x < min_) {
      min_ = x;
      min_at_ = coordinate;
    }
    if (x > max_) {
      max_ = x;
      max_at_ = coordinate;
    }
    ++count_;
    const auto n = static_cast<double>(count_);
    mean_square_ += (x * x - mean_square_) / n;
    const double dt = coordinate - mean_coordinate_;
    mean_coordinate_ += dt / n;
    coordinate_variation_ += dt * (coordinate - mean_coordinate_);
    mean_ += (x - mean_) / n;
    covariation_ += dt * (x - mean_);
  }
}

double Statistic::value(const std::string& name) const {
  if (name == "first") return first_;
  if (name == "last") return last_;
  if (name == "min") return min_;
  if (name == "max") return max_;
  if (name == "min_at") return min_at_;
  if (name == "max_at") return max_at_;
  if (name == "mean") return mean_;
  if (name == "rms") return std::sqrt(mean_square_);
  if (name == "max_abs") return std::max(std::abs(min_), std::abs(max_));
  if (name == "peak_to_peak") return max_ - min_;
  if (name == "slope") return covariation_ / coordinate_variation_;
  if (name == "count") return static_cast<double>(count_);
  throw std::logic_error("unknown statistic " + name);
}

}  // namespace bathline
