// A transform known at points of a line Re s = shift as a ratio of polynomials, of which the poles matter.
//
//   g(s) ~ sum_j (a_j g_j/(s - s_j) + conj) / sum_j (a_j/(s - s_j) + conj),   s_j = shift + i w_j, g_j = g(s_j)
//
// takes the values g_j whatever the numbers a_j are. The s_j are found one by one, where the error is largest, and the
// a_j by least squares of numerator less g times denominator: the AAA algorithm. The transform of what is real takes
// conjugate values at conjugate points, and so does this. Source: nakatsukasa2018, with all in conjugate pairs.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

namespace bathline {

/// Of a transform: where, in rad/s on the line, and its value.
struct TransformSample {
  double frequency;
  std::complex<double> value;
};

class AaaFit {
 public:
  /// `samples` are at positive frequencies, no two alike.
  AaaFit(double shift, std::vector<TransformSample> samples);

  /// Takes the sample with the largest error as one more s_j. Not to be called where no sample is left.
  void add_support_point();
  /// Largest distance from the samples.
  double error() const { return error_; }
  std::size_t pairs() const { return support_points_.size(); }
  /// Those with Im s >= 0.
  std::vector<std::complex<double>> poles() const;

 private:
  void solve();
  void evaluate();
  std::complex<double> polished(std::complex<double> pole) const;

  double shift_;
  std::vector<TransformSample> samples_;
  std::vector<double> root_spacing_;         // of the samples
  std::vector<std::complex<double>> found_;  // at the samples
  std::vector<std::size_t> support_points_;  // numbers of samples
  std::vector<bool> is_support_;
  std::vector<std::complex<double>> weights_;  // a_j
  double error_ = 0.0;
};

}  // namespace bathline
