// Power spectra of complex series by windows.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace bathline {

/// The mean of |sum_k w_k x_k e^{i omega k}|^2/sum w_k^2 over windows w of Hann, one after the other.
class PowerSpectrum {
 public:
  /// `window` is the number of values of a window.
  explicit PowerSpectrum(std::size_t window) : window_(window), sum_(frequencies()) {}

  std::size_t frequencies() const { return window_ / 2 + 1; }
  void add(std::complex<double> value);
  /// The means of omega and -omega, at omega = 2 pi m/window a value, m from 0 to window/2, since the last call; NaN
  /// without a whole window. Forgets all values.
  std::vector<double> take();

 private:
  std::size_t window_;
  std::vector<std::complex<double>> values_;
  std::vector<double> sum_;
  double windows_ = 0.0;
};

}  // namespace bathline
