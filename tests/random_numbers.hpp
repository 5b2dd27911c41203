// Numbers that look random and are the same on every rank and every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace bathline {

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [low, high).
  double uniform(double low = -1.0, double high = 1.0) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  std::vector<double> list(std::size_t count, double low = -1.0, double high = 1.0) {
    std::vector<double> values(count);
    for (double& value : values) value = uniform(low, high);
    return values;
  }

 private:
  std::mt19937_64 engine_;  // the standard fixes its output
};

}  // namespace bathline
