// The order that ReproducibleSum documents, in a single loop: leaves of sites, eight interleaved partial sums in each,
// added in pairs, and Neumaier's compensated sum over the leaves.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace bathline {

inline double serial_sum(const std::vector<double>& values, std::size_t leaf) {
  double sum = 0.0;
  double correction = 0.0;
  for (std::size_t begin = 0; begin < values.size(); begin += leaf) {
    double lane[8] = {};
    for (std::size_t i = begin; i < values.size() && i < begin + leaf; ++i) lane[i % 8] += values[i];
    const double block = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    const double next = sum + block;
    correction += std::abs(sum) >= std::abs(block) ? (sum - next) + block : (block - next) + sum;
    sum = next;
  }
  return sum + correction;
}

}  // namespace bathline
