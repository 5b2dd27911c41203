// Differences compared with their round-off bounds.
// Tested by tests/study/doubled_variables_test.cpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace bathline {

/// The largest difference, the largest bound, and the largest ratio of a difference to its own bound.
struct Comparison {
  double difference = 0.0, bound = 0.0, fraction = 0.0;

  void add(const Eigen::VectorXd& values, const Eigen::VectorXd& bounds) {
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      const double value = std::abs(values[i]);
      difference = std::max(difference, value);
      bound = std::max(bound, bounds[i]);
      // A bound of 0 allows no difference.
      fraction = std::max(fraction, value == 0.0 ? 0.0 : value / bounds[i]);
    }
  }
  void add(const Comparison& other) {
    difference = std::max(difference, other.difference);
    bound = std::max(bound, other.bound);
    fraction = std::max(fraction, other.fraction);
  }
};

}  // namespace bathline
