// Power spectra of complex series by windows.
// Tested by tests/study/theory/power_spectrum_test.cpp.
#include "study/theory/power_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unsupported/Eigen/FFT>

namespace bathline {

void PowerSpectrum::add(std::complex<double> value) {
  values_.push_back(value);
  if (values_.size() < window_) return;
  const auto count = static_cast<double>(window_);
  double weight = 0.0;
  for (std::size_t k = 0; k < window_; ++k) {
    const double hann = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * (static_cast<double>(k) + 0.5) / count);
    values_[k] *= hann;
    weight += hann * hann;
  }
  std::vector<std::complex<double>> spectrum;
  Eigen::FFT<double>().fwd(spectrum, values_);
  for (std::size_t m = 0; m < sum_.size(); ++m) {
    const std::size_t opposite = (window_ - m) % window_;
    sum_[m] += 0.5 * (std::norm(spectrum[m]) + std::norm(spectrum[opposite])) / weight;
  }
  ++windows_;
  values_.clear();
}

std::vector<double> PowerSpectrum::take() {
  std::vector<double> means = sum_;
  for (double& mean : means) mean /= windows_;
  std::ranges::fill(sum_, 0.0);
  values_.clear();
  windows_ = 0.0;
  return means;
}

}  // namespace bathline
