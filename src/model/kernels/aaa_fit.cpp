// With a_j = x_j + i y_j the least-squares problem is real: rows are real and imaginary parts, columns x_j and y_j.
// Tested by tests/model/kernels/exponential_fit_test.cpp.
#include "model/kernels/aaa_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "solve/dense.hpp"
#include "solve/larger_or_nan.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;
using Eigen::Index;
constexpr Complex i(0.0, 1.0);

}  // namespace

AaaFit::AaaFit(double shift, std::vector<TransformSample> samples)
    : shift_(shift), samples_(std::move(samples)), fitted_(samples_.size()), is_support_(samples_.size(), false) {
  Complex mean = 0.0;
  for (const TransformSample& sample : samples_) mean += sample.value / static_cast<double>(samples_.size());
  std::fill(fitted_.begin(), fitted_.end(), mean);
  error_ = std::numeric_limits<double>::infinity();
  const std::size_t last = samples_.size() - 1;
  for (std::size_t k = 0; k <= last; ++k) {
    const double between = samples_[std::min(k + 1, last)].frequency - samples_[k == 0 ? 0 : k - 1].frequency;
    root_spacing_.push_back(std::sqrt(between));
  }
}

void AaaFit::add_support_point() {
  std::size_t farthest = samples_.size();
  double largest = -1.0;
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    const double distance = std::abs(fitted_[k] - samples_[k].value);
    if (is_support_[k] || !(distance > largest)) continue;
    largest = distance;
    farthest = k;
  }
  support_points_.push_back(farthest);
  is_support_[farthest] = true;
  solve();
  evaluate();
}

void AaaFit::solve() {
  const auto pairs = static_cast<Index>(support_points_.size());
  const auto rows = static_cast<Index>(samples_.size()) - pairs;
  // With fewer equations than weights rows of zeros complete them.
  Eigen::MatrixXd equations = Eigen::MatrixXd::Zero(2 * std::max(rows, pairs), 2 * pairs);
  Index row = 0;
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    if (is_support_[k]) continue;
    const auto& [w, g] = samples_[k];
    for (Index j = 0; j < pairs; ++j) {
      const std::size_t support = support_points_[static_cast<std::size_t>(j)];
      const auto& [w_j, g_j] = samples_[support];
      const double scale = root_spacing_[k] * root_spacing_[support];
      const Complex above = scale * (g - g_j) / (i * (w - w_j)), below = scale * (g - std::conj(g_j)) / (i * (w + w_j));
      const Complex by_x = above + below, by_y = i * (above - below);
      equations(row, 2 * j) = by_x.real();
      equations(row, 2 * j + 1) = by_y.real();
      equations(rows + row, 2 * j) = by_x.imag();
      equations(rows + row, 2 * j + 1) = by_y.imag();
    }
    ++row;
  }
  const Eigen::VectorXd last = singular_values(equations).v.col(2 * pairs - 1);
  weights_.clear();
  for (Index j = 0; j < pairs; ++j) {
    weights_.push_back(root_spacing_[support_points_[static_cast<std::size_t>(j)]] *
                       Complex(last[2 * j], last[2 * j + 1]));
  }
}

void AaaFit::evaluate() {
  error_ = 0.0;
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    fitted_[k] = samples_[k].value;
    if (is_support_[k]) continue;
    Complex above = 0.0, below = 0.0;
    for (std::size_t j = 0; j < support_points_.size(); ++j) {
      const auto& [w_j, g_j] = samples_[support_points_[j]];
      const Complex direct = weights_[j] / (i * (samples_[k].frequency - w_j));
      const Complex mirrored = std::conj(weights_[j]) / (i * (samples_[k].frequency + w_j));
      above += direct * g_j + mirrored * std::conj(g_j);
      below += direct + mirrored;
    }
    fitted_[k] = above / below;
    error_ = larger_or_nan(error_, std::abs(fitted_[k] - samples_[k].value));
  }
}

// The zeros of the denominator are the eigenvalues of diag(s_j) - 1 (a_j s_j)^T/sum a_j, except for a spurious one at
// s = shift, where a_j is orthogonal to the image. Conjugate pairs are pairs of real unknowns, ordered from high to low
// frequencies, with rows and columns scaled to the same size, so that low frequencies keep their relative accuracy.
std::vector<Complex> AaaFit::poles() const {
  const auto pairs = static_cast<Index>(support_points_.size());
  std::vector<std::size_t> order(support_points_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t first, std::size_t second) {
    return samples_[support_points_[first]].frequency > samples_[support_points_[second]].frequency;
  });
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2 * pairs, 2 * pairs);
  Eigen::RowVectorXd row(2 * pairs);
  Eigen::VectorXd column = Eigen::VectorXd::Zero(2 * pairs);
  double sum = 0.0;
  for (const Complex& a : weights_) sum += a.real();
  for (Index j = 0; j < pairs; ++j) {
    const std::size_t support = order[static_cast<std::size_t>(j)];
    const Complex& a = weights_[support];
    const double w = samples_[support_points_[support]].frequency, size = std::sqrt(w * std::abs(a / sum));
    matrix(2 * j, 2 * j + 1) = -w;
    matrix(2 * j + 1, 2 * j) = w;
    row.segment<2>(2 * j) << -w * a.imag() / (sum * size), -w * a.real() / (sum * size);
    column[2 * j] = size;
  }
  matrix -= column * row;
  const Eigen::VectorXcd values = eigenvalues(matrix);
  Index spurious = 0;
  values.cwiseAbs().minCoeff(&spurious);
  std::vector<Complex> poles;
  for (Index k = 0; k < values.size(); ++k) {
    if (k != spurious && values[k].imag() >= 0.0 && std::isfinite(std::abs(values[k]))) {
      poles.push_back(refine_pole(values[k]) + shift_);
    }
  }
  return poles;
}

/// Newton's method for the zeros of the denominator; the error of an eigenvalue is round-off of the largest one.
Complex AaaFit::refine_pole(Complex pole) const {
  for (int step = 0; step < 8; ++step) {
    Complex value = 0.0, derivative = 0.0;
    for (std::size_t j = 0; j < support_points_.size(); ++j) {
      const double w = samples_[support_points_[j]].frequency;
      const Complex direct = pole - i * w, mirrored = pole + i * w;
      value += weights_[j] / direct + std::conj(weights_[j]) / mirrored;
      derivative -= weights_[j] / (direct * direct) + std::conj(weights_[j]) / (mirrored * mirrored);
    }
    const Complex correction = value / derivative;
    if (!(std::abs(correction) < 0.1 * std::abs(pole))) break;
    pole -= correction;
  }
  return {pole.real(), std::abs(pole.imag())};
}

}  // namespace bathline
