// C = A A^T, scaled, with entries of A uniform in [-1, 1).
// Tested by tests/study/commutativity_test.cpp.
#include "study/theory/random_damping.hpp"

#include <random>

namespace bathline {

std::vector<Eigen::MatrixXd> random_dampings(std::int64_t count, int size, double scale, std::uint64_t seed) {
  std::mt19937_64 engine(seed);  // the standard defines its output, but not that of distributions
  std::vector<Eigen::MatrixXd> all;
  for (std::int64_t draw = 0; draw < count; ++draw) {
    Eigen::MatrixXd a(size, size), c(size, size);
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) a(i, j) = 2.0 * (static_cast<double>(engine() >> 11) * 0x1p-53) - 1.0;
    }
    double trace = 0.0;
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j <= i; ++j) {
        double sum = 0.0;
        for (int k = 0; k < size; ++k) sum += a(i, k) * a(j, k);
        c(i, j) = c(j, i) = sum;
      }
      trace += c(i, i);
    }
    all.push_back(c * (scale * size / trace));
  }
  return all;
}

}  // namespace bathline
