// Autocorrelations over lags of very different lengths.
//
// Level l correlates means of 2^l consecutive values: all lags below `points` values exactly, longer ones at points/2
// lags a level. An average over w values changes C by C'' (w^2 - 1)/12 and keeps its integral. Ramirez, Sukumaran,
// Vorselaars and Likhtman (2010) call it multiple tau.
#pragma once

#include <cstddef>
#include <vector>

namespace bathline {

/// Of one series, which is added value by value. Its storage depends on the longest lag alone, as its logarithm.
class MultipleTau {
 public:
  static constexpr std::size_t points = 16;

  /// For lags up to at least `longest` values.
  explicit MultipleTau(std::size_t longest);

  /// In values, ascending from 0.
  std::vector<double> lags() const;
  void add(double value);
  /// The mean products x_k x_{k+l} at all lags since the last call, without subtraction of a mean; NaN where there were
  /// too few values. Forgets them.
  std::vector<double> take();

 private:
  struct Level {
    std::vector<double> last = std::vector<double>(points);  ///< a ring
    std::size_t values = 0;
    std::vector<double> sum = std::vector<double>(points), count = std::vector<double>(points);
  };
  /// First point of a level that a finer one does not have.
  static std::size_t first_point(std::size_t level) { return level == 0 ? 0 : points / 2; }

  std::vector<Level> levels_;
};

}  // namespace bathline
