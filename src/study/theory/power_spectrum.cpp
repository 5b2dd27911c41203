// Power spectra of complex series by windows.
// Tested by tests/study/theory/power_spectrum_test.cpp.
#include "study/theory/power_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unsupported/Eigen/FFT>

namespace bathline {

struct PowerSpectrum::Transform {
  Eigen::FFT<double> fft;
  std::vector<std::complex<double>> spectrum;
};

PowerSpectrum::PowerSpectrum(std::size_t window)
    : window_(window), sum_(frequencies()), transform_(std::make_unique<Transform>()) {}
PowerSpectrum::~PowerSpectrum() = default;
PowerSpectrum::PowerSpectrum(PowerSpectrum&&) noexcept = default;

void PowerSpectrum::add(std::complex<double> value) {
  values_.push_back(value);
  if (values_.size() < window_) return;
  const auto count = static_cast<double>(window_);
  weight_ = 0.0;
  for (std::size_t k = 0; k < window_; ++k) {
    const double hann = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * (static_cast<double>(k) + 0.5) / count);
    values_[k] *= hann;
    weight_ += hann * hann;
  }
  transform_->fft.fwd(transform_->spectrum, values_);
  for (std::size_t m = 0; m < sum_.size(); ++m) {
    const std::size_t opposite = (window_ - m) % window_;
    sum_[m] += 0.5 * (std::norm(transform_->spectrum[m]) + std::norm(transform_->spectrum[opposite])) / weight_;
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
