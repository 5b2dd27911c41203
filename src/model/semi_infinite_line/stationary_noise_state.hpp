// Where the exponentials of a noise that has gone on for ever are.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "model/semi_infinite_line/exponential_terms.hpp"

namespace bathline {

/// What white numbers that have driven y_j+ = z_j y_j + e for ever make of the y_j, z_j those of decays over steps.
class StationaryNoiseState {
 public:
  StationaryNoiseState() = default;
  explicit StationaryNoiseState(const std::vector<ExponentialTerm>& exponential_terms);

  /// How many standard normal numbers it takes: as many as y have parts.
  std::size_t numbers() const { return 2 * rows_.size(); }
  std::complex<double> value(std::size_t j, std::span<const double> numbers) const;

 private:
  std::vector<std::vector<std::complex<double>>> rows_;  // row j has 2 (j + 1) entries
};

}  // namespace bathline
