// Maxima of the error on intervals times their lengths bound its integral, except for maxima between the samples.
// Tested by tests/model/kernels/gauss_rule_bath_test.cpp.
#include "model/kernels/kernel_error.hpp"
#include "solve/larger_or_nan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bathline {

KernelError measure_kernel_error(const std::function<double(double)>& exact,
                                 const std::function<double(double)>& approximate, double highest, double horizon,
                                 int samples) {
  KernelError result;
  double begin = 0.0, end = std::min(horizon, 0.25 / highest), max_difference = 0.0;
  while (begin < horizon) {
    double largest = 0.0, sum = 0.0;
    for (int i = 0; i < samples; ++i) {
      // Chebyshev nodes, since equidistant ones could be in resonance with a frequency.
      const double t = begin + (end - begin) * 0.5 * (1.0 - std::cos(std::numbers::pi * (i + 0.5) / samples));
      const double exact_value = exact(t), difference = std::abs(approximate(t) - exact_value);
      largest = larger_or_nan(largest, difference);
      sum += std::abs(exact_value);
      if (difference > max_difference) {
        max_difference = difference;
        result.worst = t;
      }
    }
    result.error += (end - begin) * largest;
    result.norm += (end - begin) * sum / samples;
    begin = end;
    end = std::min(horizon, 2.0 * end);
  }
  result.error /= result.norm;
  return result;
}

}  // namespace bathline
