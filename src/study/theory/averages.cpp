// Averages over realisations and over time.
// Tested by tests/study/ensemble_test.cpp.
#include "study/theory/averages.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

Estimate estimate(const std::vector<double>& sums, std::size_t begin, std::size_t count, std::int64_t realisations) {
  const auto n = static_cast<double>(realisations);
  const std::size_t width = sums.size() / 2;
  Estimate estimate;
  for (std::size_t i = begin; i < begin + count; ++i) {
    const double mean = sums[i] / n;
    const double variance = std::max(0.0, sums[width + i] / n - mean * mean) * n / (n - 1.0);
    estimate.mean.push_back(mean);
    estimate.error.push_back(std::sqrt(variance / n));
  }
  return estimate;
}

void average_over_time(const Columns& columns, std::size_t first, std::size_t end, std::vector<double>& values) {
  const std::size_t count = end - first;
  for (std::size_t record = first; record < end; ++record) {
    for (std::size_t particle = 0; particle < columns.particles; ++particle) {
      values[columns.kinetic_mean() + particle] +=
          values[columns.kinetic() + record * columns.particles + particle] / static_cast<double>(count);
    }
  }
  for (std::size_t lag = 0; lag < columns.lags; ++lag) {
    const double weight = 1.0 / static_cast<double>((count - lag) * columns.axes);
    for (std::size_t record = first; record + lag < end; ++record) {
      const double* now = &values[columns.v() + record * columns.dofs];
      const double* later = now + lag * columns.dofs;
      for (std::size_t i = 0; i < columns.dofs; ++i) {
        values[columns.correlation() + lag * columns.particles + i / columns.axes] += weight * now[i] * later[i];
      }
    }
  }
}

}  // namespace bathline
