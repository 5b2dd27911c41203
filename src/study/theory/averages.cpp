// Averages over realisations and over time.
//
// With x = m + y, m the mean, the sum of x_k x_{k+l} over n - l values is
//   sum y_k y_{k+l} + m (sum_{k<n-l} y_k + sum_{k>=l} y_k) + (n - l) m^2.
// The first sum is the inverse transform of |Y|^2, Y the transform of y and of at least as many zeros as there are
// lags; the other two are differences of cumulative sums. Tested by tests/study/theory/averages_test.cpp.
#include "study/theory/averages.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <unsupported/Eigen/FFT>

namespace bathline {

Estimate Moments::estimate(std::size_t begin, std::size_t count) const {
  Estimate estimate;
  for (std::size_t i = begin; i < begin + count; ++i) {
    estimate.mean.push_back(mean(i));
    estimate.error.push_back(std::sqrt(variance(i) / this->count()));
  }
  return estimate;
}

void Moments::add(std::span<const double> sample) {
  const double count = ++numbers_.front();
  double *means = numbers_.data() + 1, *squares = means + width();
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double deviation = sample[i] - means[i];
    means[i] += deviation / count;
    squares[i] += deviation * (sample[i] - means[i]);
  }
}

void Moments::merge(std::span<const double> numbers) {
  const double before = numbers_.front(), added = numbers.front();
  if (added == 0.0) return;
  const double count = numbers_.front() = before + added;
  const double *other_means = numbers.data() + 1, *other_squares = other_means + width();
  double *means = numbers_.data() + 1, *squares = means + width();
  for (std::size_t i = 0; i < width(); ++i) {
    const double difference = other_means[i] - means[i];
    // The first moments are taken over without rounding.
    means[i] = before == 0.0 ? other_means[i] : means[i] + difference * (added / count);
    squares[i] += other_squares[i] + difference * difference * (before / count * added);
  }
}

struct Autocorrelation::Transform {
  Eigen::FFT<double> fft;
  std::vector<double> series, products, cumulative;
  std::vector<std::complex<double>> spectrum;
};

Autocorrelation::Autocorrelation() : transform_(std::make_unique<Transform>()) {
  transform_->fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
}
Autocorrelation::~Autocorrelation() = default;

std::vector<double> Autocorrelation::operator()(std::span<const double> x, std::size_t lags) {
  if (lags == 0) return {};
  auto& [fft, series, products, cumulative, spectrum] = *transform_;
  const std::size_t n = x.size();
  const double mean = mean_of(x);
  series.assign(std::bit_ceil(n + lags - 1), 0.0);
  cumulative.assign(n + 1, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    series[k] = x[k] - mean;
    cumulative[k + 1] = cumulative[k] + series[k];
  }
  if (series.size() == 1) {
    products = {series[0] * series[0]};
  } else {
    fft.fwd(spectrum, series);
    for (std::complex<double>& value : spectrum) value = std::norm(value);
    fft.inv(products, spectrum);
  }
  std::vector<double> means(lags);
  for (std::size_t lag = 0; lag < lags; ++lag) {
    const double edges = cumulative[n - lag] + cumulative[n] - cumulative[lag];
    means[lag] = (products[lag] + mean * edges) / static_cast<double>(n - lag) + mean * mean;
  }
  return means;
}

double mean_of(std::span<const double> values) {
  const double first = values.front();
  double sum = 0.0;
  for (const double value : values) sum += value - first;
  return first + sum / static_cast<double>(values.size());
}

}  // namespace bathline
