// Averages over realisations and over time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bathline {

/// Sums over realisations of several values, followed by the sums of their squares.
struct Sums {
  explicit Sums(std::size_t width) : sums(2 * width) {}
  /// Adds values with the indices from `begin` on.
  void add(std::span<const double> values, std::size_t begin = 0) {
    const std::size_t width = sums.size() / 2;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[begin + i] += values[i];
      sums[width + begin + i] += values[i] * values[i];
    }
  }
  std::vector<double> sums;
};

/// Means over realisations and their standard errors.
struct Estimate {
  std::vector<double> mean, error;
};

/// The estimates of `count` values from `begin` on; `sums` as in Sums.
Estimate estimate(const std::vector<double>& sums, std::size_t begin, std::size_t count, std::int64_t realisations);

/// Layout of the values of a realisation: q and v by record and degree of freedom, kinetic energy by record and
/// particle, velocity autocorrelation by lag and particle, mean kinetic energy by particle.
struct Columns {
  std::size_t records, lags, dofs, particles, axes;
  std::size_t q() const { return 0; }
  std::size_t v() const { return records * dofs; }
  std::size_t kinetic() const { return 2 * records * dofs; }
  std::size_t correlation() const { return kinetic() + records * particles; }
  std::size_t kinetic_mean() const { return correlation() + lags * particles; }
  std::size_t width() const { return kinetic_mean() + particles; }
};

/// Computes the averages of a realisation over the records in [first, end): those of the kinetic energy and, for every
/// lag, of the products of velocities.
void average_over_time(const Columns& columns, std::size_t first, std::size_t end, std::vector<double>& values);

}  // namespace bathline
