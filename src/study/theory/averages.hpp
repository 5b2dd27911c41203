// Averages over realisations and over time.
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace bathline {

/// Means of several values and their standard errors.
struct Estimate {
  std::vector<double> mean, error;
};

/// Means of several values over independent samples, and the sums of the squared deviations from them. Both are updated
/// around the mean (welford1962), so that variances keep their digits however far from 0 the mean is.
class Moments {
 public:
  explicit Moments(std::size_t width) : numbers_(1 + 2 * width) {}

  std::size_t width() const { return (numbers_.size() - 1) / 2; }
  double count() const { return numbers_.front(); }
  double mean(std::size_t index) const { return numbers_[1 + index]; }
  /// The variance over the samples, with count - 1 in the denominator.
  double variance(std::size_t index) const { return numbers_[1 + width() + index] / (count() - 1.0); }
  Estimate estimate(std::size_t begin, std::size_t count) const;

  /// Adds a sample of all values.
  void add(std::span<const double> sample);
  /// Adds the samples of other moments, given by their `numbers` (chan1983). The bits depend on the order.
  void merge(std::span<const double> numbers);
  void clear() { numbers_.assign(numbers_.size(), 0.0); }
  /// The count, the means and the sums of squared deviations: the state, which checkpoints and messages contain.
  std::span<double> numbers() { return numbers_; }
  std::span<const double> numbers() const { return numbers_; }

 private:
  std::vector<double> numbers_;
};

/// Mean products of a series with itself, by the fast Fourier transform of its deviations from the mean.
class Autocorrelation {
 public:
  Autocorrelation();
  ~Autocorrelation();

  /// The means of x_k x_{k+l} over k, for lags l from 0 to `lags` - 1, fewer than there are values. Errors are
  /// round-off of the variance and of the squared mean.
  std::vector<double> operator()(std::span<const double> x, std::size_t lags);

 private:
  struct Transform;
  std::unique_ptr<Transform> transform_;
};

/// The mean, with errors of round-off of the deviations and of one rounding of the mean.
double mean_of(std::span<const double> values);

}  // namespace bathline
