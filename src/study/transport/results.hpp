// Currents, profiles and conductivities from the means of blocks.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/transport/options.hpp"

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
    Mean times(double factor) const { return {factor * value, std::abs(factor) * error}; }
  };
  Mean mean_of(std::size_t first, const std::function<double(std::size_t row)>& combination) const;
  Mean mean(std::size_t first, std::size_t column) const {
    return mean_of(first, [&](std::size_t row) { return at(row, column); });
  }
  /// Where several columns have the same halves, within the errors of the mean of both, in the rows from `first` on.
  bool has_equal_halves(std::size_t first, std::span<const std::size_t> columns) const;

 private:
  std::size_t columns_;
  std::vector<double> numbers_;
};

/// The blocks of a case, with what is known of them.
struct TransportBlocks {
  const Case& this_case;
  std::span<const Chain> chains;
  std::int64_t realisations;
  double seconds;  ///< of a block
  BlockTable& table;
};

/// From which block on the motion is steady: where both halves of the rest have the same currents and temperatures, and
/// where chains have taken up no energy since.
struct Steadiness {
  std::size_t first = 0;
  bool is_steady = false;
};
/// At most the first half is left out. With fewer than `min_steady_blocks` nothing is steady.
Steadiness find_steady_blocks(const TransportBlocks& blocks);
inline constexpr std::size_t min_steady_blocks = 16;

/// The result with the largest relative error: of the currents that a difference of temperatures drives, and of the
/// conductivities of rings at their longest lag.
struct WorstResult {
  std::string name;
  BlockTable::Mean mean;
  double relative_error() const;
};
/// Nothing where there is no such result, or with fewer than two blocks.
std::optional<WorstResult> find_worst_result(const TransportBlocks& blocks);

/// Writes the group `transport/<case>`, with one group for each chain and each series. @note Collective.
void write_transport(const TransportBlocks& blocks, const TransportOptions& options, ResultFile& file);

}  // namespace bathline
