// Rational fit to samples of a transform on a line Re s = shift, used for its poles.
//
//   g(s) ~ sum_j (a_j g_j/(s - s_j) + conj) / sum_j (a_j/(s - s_j) + conj),   s_j = shift + i w_j, g_j = g(s_j)
//
// interpolates the g_j for all weights a_j. The support points s_j are added one by one, where the error is largest,
// and the a_j minimise the squares of the numerator minus g times the denominator: the AAA algorithm. Conjugate pairs
// make the fit that of a real function. Source: nakatsukasa2018, here with conjugate pairs.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

namespace bathline {

/// Sample of a transform: its frequency on the line in rad/s, and its value.
struct TransformSample {
  double frequency;
  std::complex<double> value;
};

class AaaFit {
 public:
  /// `samples` have distinct positive frequencies.
  AaaFit(double shift, std::vector<TransformSample> samples);

  /// Makes the sample with the largest error a support point. Must not be called without remaining samples.
  void add_support_point();
  /// Largest error at the samples.
  double error() const { return error_; }
  std::size_t pairs() const { return support_points_.size(); }
  /// The poles with Im s >= 0.
  std::vector<std::complex<double>> poles() const;

 private:
  void solve();
  void evaluate();
  std::complex<double> refine_pole(std::complex<double> pole) const;

  double shift_;
  std::vector<TransformSample> samples_;
  std::vector<double> root_spacing_;          // square root of the spacing of the samples
  std::vector<std::complex<double>> fitted_;  // values of the fit at the samples
  std::vector<std::size_t> support_points_;   // indices of samples
  std::vector<bool> is_support_;
  std::vector<std::complex<double>> weights_;  // a_j
  double error_ = 0.0;
};

}  // namespace bathline
