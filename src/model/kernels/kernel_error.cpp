// Largest values of a distance times the time for which they hold are an upper bound of its integral, but for what lies
// between the samples.
// Tested by tests/model/kernels/gauss_rule_bath_test.cpp.
#include "model/kernels/kernel_error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bathline {

KernelError measure_kernel_error(const std::function<double(double)>& exact, const std::function<double(double)>& found,
                                 double highest, double horizon, int samples) {
  KernelError all;
  double begin = 0.0, end = std::min(horizon, 0.25 / highest), farthest = 0.0;
  while (begin < horizon) {
    double largest = 0.0, sum = 0.0;
    for (int i = 0; i < samples; ++i) {
      // No even spacing, which some frequency would go with.
      const double t = begin + (end - begin) * 0.5 * (1.0 - std::cos(std::numbers::pi * (i + 0.5) / samples));
      const double wanted = exact(t), distance = std::abs(found(t) - wanted);
      largest = std::max(largest, distance);
      sum += std::abs(wanted);
      if (distance > farthest) {
        farthest = distance;
        all.worst = t;
      }
    }
    all.error += (end - begin) * largest;
    all.norm += (end - begin) * sum / samples;
    begin = end;
    end = std::min(horizon, 2.0 * end);
  }
  all.error /= all.norm;
  return all;
}

}  // namespace bathline
