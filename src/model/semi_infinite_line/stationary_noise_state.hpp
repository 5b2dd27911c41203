// The stationary state of noise exponentials.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "model/semi_infinite_line/exponential_terms.hpp"

namespace bathline {

/// The stationary state of y_j+ = z_j y_j + e with white noise e, z_j the exponentials over steps.
class StationaryNoiseState {
 public:
  StationaryNoiseState() = default;
  explicit StationaryNoiseState(const std::vector<ExponentialTerm>& exponential_terms);

  /// Number of standard normal numbers that it needs: two for each y_j.
  std::size_t numbers() const { return 2 * rows_.size(); }
  std::complex<double> value(std::size_t j, std::span<const double> numbers) const;

 private:
  std::vector<std::vector<std::complex<double>>> rows_;  // row j has 2 (j + 1) entries
};

}  // namespace bathline
