// Autocorrelations over lags of very different lengths.
// Tested by tests/study/theory/multiple_tau_test.cpp.
#include "study/theory/multiple_tau.hpp"

#include <algorithm>

namespace bathline {

MultipleTau::MultipleTau(std::size_t longest) : levels_(1) {
  for (std::size_t reach = points - 1; reach < longest; reach *= 2) levels_.emplace_back();
}

std::vector<double> MultipleTau::lags() const {
  std::vector<double> lags;
  double width = 1.0;
  for (std::size_t level = 0; level < levels_.size(); ++level, width *= 2.0) {
    for (std::size_t point = first_point(level); point < points; ++point)
      lags.push_back(width * static_cast<double>(point));
  }
  return lags;
}

void MultipleTau::add(double value) {
  for (std::size_t number = 0; number < levels_.size(); ++number) {
    Level& level = levels_[number];
    level.last[level.values % points] = value;
    ++level.values;
    const std::size_t known = std::min(level.values, points);
    for (std::size_t point = first_point(number); point < known; ++point) {
      level.sum[point] += value * level.last[(level.values - 1 - point) % points];
      ++level.count[point];
    }
    if (level.values % 2 == 1) return;
    value = 0.5 * (level.last[(level.values - 2) % points] + value);
  }
}

std::vector<double> MultipleTau::take() {
  std::vector<double> means;
  for (std::size_t number = 0; number < levels_.size(); ++number) {
    for (std::size_t point = first_point(number); point < points; ++point)
      means.push_back(levels_[number].sum[point] / levels_[number].count[point]);
  }
  std::ranges::fill(levels_, Level());
  return means;
}

}  // namespace bathline
