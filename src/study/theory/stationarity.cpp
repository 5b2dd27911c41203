// Whether averages over time are those of a stationary motion.
// Tested by tests/study/theory/averages_test.cpp.
#include "study/theory/stationarity.hpp"

#include <cmath>
#include <unsupported/Eigen/SpecialFunctions>

namespace bathline {

double students_probability(double t, double degrees_of_freedom) {
  if (std::isinf(degrees_of_freedom)) return std::erfc(std::abs(t) / std::sqrt(2.0));
  // I_x(n/2, 1/2), x = n/(n + t^2).
  const double x = degrees_of_freedom / (degrees_of_freedom + t * t), half = 0.5 * degrees_of_freedom;
  if (!(x > 0.0)) return 0.0;
  if (!(x < 1.0)) return 1.0;
  return Eigen::numext::betainc(half, 0.5, x);
}

double students_quantile(double probability, double degrees_of_freedom) {
  // Bisection in ln t, down to adjacent numbers.
  double low = -700.0, high = 700.0;
  for (double middle = 0.0; low < middle && middle < high; middle = 0.5 * (low + high)) {
    (students_probability(std::exp(middle), degrees_of_freedom) > probability ? low : high) = middle;
  }
  return std::exp(low);
}

std::optional<HalfDifference> find_half_difference(const Moments& differences, std::span<const double> round_off,
                                                   double false_alarms) {
  const double n = differences.count();
  if (n < 2.0) return std::nullopt;
  std::optional<HalfDifference> result;
  double limit = false_alarms / static_cast<double>(differences.width());
  for (std::size_t i = 0; i < differences.width(); ++i) {
    const double difference = differences.mean(i), error = std::sqrt(differences.variance(i) / n);
    if (std::abs(difference) <= round_off[i]) continue;  // a mean that is not a number is no mean
    const double probability = students_probability(difference / error, n - 1.0);
    if (!(probability < limit)) continue;
    limit = probability;
    result = {i, difference, error};
  }
  return result;
}

}  // namespace bathline
