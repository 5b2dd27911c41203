// Means of blocks of time.
// Tested by tests/study/transport_test.cpp.
#include "study/transport/block_table.hpp"

#include <cmath>

#include "study/theory/averages.hpp"
#include "study/theory/stationarity.hpp"

namespace bathline {

BlockTable::Mean BlockTable::mean_of(std::span<const double> values) {
  Moments moments(1);
  for (const double value : values) moments.add({&value, 1});
  const Estimate estimate = moments.estimate(0, 1);
  return {estimate.mean[0], estimate.error[0]};
}

BlockTable::Mean BlockTable::ratio(std::size_t first, std::size_t numerator, std::size_t denominator) const {
  const double above = mean(first, numerator).value, below = mean(first, denominator).value, value = above / below;
  const Mean relative =
      mean_of(first, [&](std::size_t row) { return at(row, numerator) / above - at(row, denominator) / below; });
  return {value, std::abs(value) * relative.error};
}

bool BlockTable::has_equal_halves(std::size_t first, std::span<const std::size_t> columns) const {
  constexpr double false_alarms = 1e-3, relative_round_off = 1e-9;
  const std::size_t half = (rows() - first) / 2;
  Moments differences(columns.size());
  std::vector<double> difference(columns.size());
  for (std::size_t row = first; row < first + half; ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      difference[i] = at(rows() - half + row - first, columns[i]) - at(row, columns[i]);
    differences.add(difference);
  }
  std::vector<double> round_off;
  for (const std::size_t column : columns)
    round_off.push_back(relative_round_off * std::abs(mean(first, column).value));
  return !find_half_difference(differences, round_off, false_alarms);
}

}  // namespace bathline
