// Means of blocks of time, and from which of them on the motion is steady.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bathline {

/// A row of means for each block of time. Blocks are independent samples where they are longer than correlations.
class BlockTable {
 public:
  explicit BlockTable(std::size_t columns) : columns_(columns) {}

  std::size_t rows() const { return numbers_.size() / columns_; }
  std::size_t columns() const { return columns_; }
  double at(std::size_t row, std::size_t column) const { return numbers_[row * columns_ + column]; }
  void add(std::span<const double> row) { numbers_.insert(numbers_.end(), row.begin(), row.end()); }
  /// All numbers, row by row: the state.
  std::vector<double>& numbers() { return numbers_; }

  /// The mean of a combination of columns over the rows from `first` on, and its standard error.
  struct Mean {
    double value, error;
  };
  template <class Combination>
  Mean mean_of(std::size_t first, Combination combination) const {
    std::vector<double> values;
    for (std::size_t row = first; row < rows(); ++row) values.push_back(combination(row));
    return mean_of(values);
  }
  Mean mean(std::size_t first, std::size_t column) const {
    return mean_of(first, [&](std::size_t row) { return at(row, column); });
  }
  /// The ratio of the means of two columns; its error by the deviations of both together.
  Mean ratio(std::size_t first, std::size_t numerator, std::size_t denominator) const;
  /// Where several columns have the same halves, within the errors of the mean of both, in the rows from `first` on.
  bool has_equal_halves(std::size_t first, std::span<const std::size_t> columns) const;

 private:
  static Mean mean_of(std::span<const double> values);

  std::size_t columns_;
  std::vector<double> numbers_;
};

}  // namespace bathline
