// Correlations, the integrated Volterra equation, and the jackknife.
// Tested by tests/study/theory/kernel_estimate_test.cpp.
#include "study/theory/kernel_estimate.hpp"

#include <algorithm>
#include <cmath>

#include "model/kernels/passive_fit.hpp"

namespace bathline {

namespace {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Sums of v v and of F v over the origins of a block, by lag, and their numbers: three columns.
ArrayXXd sums_of(std::span<const ThermalSeries> series, std::size_t begin, std::size_t end, Index lags) {
  ArrayXXd sums = ArrayXXd::Zero(lags + 1, 3);
  for (const auto& [v, force] : series) {
    for (Index lag = 0; lag <= lags; ++lag) {
      const auto shift = static_cast<std::size_t>(lag);
      const std::size_t last = std::min(end, v.size() - shift);
      for (std::size_t i = begin; i < last; ++i) {
        sums(lag, 0) += v[i + shift] * v[i];
        sums(lag, 1) += force[i + shift] * v[i];
      }
      sums(lag, 2) += static_cast<double>(last - begin);
    }
  }
  return sums;
}

/// The trapezoidal rule from 0 to every lag.
VectorXd integral_of(const VectorXd& values, double h) {
  VectorXd integral = VectorXd::Zero(values.size());
  for (Index i = 1; i < values.size(); ++i) integral[i] = integral[i - 1] + 0.5 * h * (values[i - 1] + values[i]);
  return integral;
}

/// integral_0^t (1 - exp(-r (t - s)))/r C(s) ds at every lag, exact for C that is linear between them.
VectorXd response_of(double r, const VectorXd& correlation, double h) {
  const double x = r * h, decay = std::exp(-x), mean = -std::expm1(-x) / x;
  VectorXd decaying = VectorXd::Zero(correlation.size());
  for (Index i = 1; i < correlation.size(); ++i) {
    decaying[i] = decay * decaying[i - 1] + ((mean - decay) * correlation[i - 1] + (1.0 - mean) * correlation[i]) / r;
  }
  return (integral_of(correlation, h) - decaying) / r;
}

/// G from the equation with the trapezoidal rule, lag by lag. It zigzags: neighbours are averaged.
VectorXd inverted(const VectorXd& left, const VectorXd& correlation, double h) {
  const Index n = left.size();
  VectorXd g = VectorXd::Zero(n), smooth;
  for (Index i = 1; i < n; ++i) {
    double sum = 0.0;
    for (Index j = 1; j < i; ++j) sum += g[i - j] * correlation[j];
    g[i] = 2.0 * (left[i] / h - sum) / correlation[0];
  }
  smooth = g;
  for (Index i = 1; i + 1 < n; ++i) smooth[i] = 0.25 * (g[i - 1] + 2.0 * g[i] + g[i + 1]);
  return smooth;
}

/// The jackknife's standard error of numbers that `part` takes from the estimates without one block each.
template <class Part>
VectorXd jackknife(const std::vector<KernelEstimate>& without_one, Part part) {
  const auto blocks = static_cast<double>(without_one.size());
  VectorXd mean = VectorXd::Zero(part(without_one.front()).size()), squares = mean;
  for (const KernelEstimate& estimate : without_one) mean += part(estimate) / blocks;
  for (const KernelEstimate& estimate : without_one) squares += (part(estimate) - mean).cwiseAbs2();
  return ((blocks - 1.0) / blocks * squares).cwiseSqrt();
}

KernelEstimate estimate_from(const ArrayXXd& sums, const KernelEstimateOptions& options) {
  return kernel_from_correlations((sums.col(0) / sums.col(2)).matrix(), (sums.col(1) / sums.col(2)).matrix(), options);
}

}  // namespace

KernelEstimate kernel_from_correlations(const VectorXd& vv, const VectorXd& fv, const KernelEstimateOptions& options) {
  const double h = options.interval, longest = h * static_cast<double>(options.lags);
  KernelEstimate estimate;
  estimate.velocity_correlation = vv;
  estimate.force_correlation = fv;
  estimate.temperature = options.mass * vv[0];
  const VectorXd left = (options.mass * (vv[0] - vv.array())).matrix() + integral_of(fv, h);
  VectorXd rates(options.rates);
  for (Index j = 0; j < rates.size(); ++j) {
    const double fraction = rates.size() == 1 ? 0.0 : static_cast<double>(j) / static_cast<double>(rates.size() - 1);
    rates[j] = std::pow(longest / h, fraction) / longest;
  }
  MatrixXd responses(left.size(), rates.size());
  for (Index j = 0; j < rates.size(); ++j) responses.col(j) = response_of(rates[j], vv, h);
  const VectorXd k = nonnegative_least_squares(responses.transpose() * responses, responses.transpose() * left);
  const ArrayXd times = ArrayXd::LinSpaced(left.size(), 0.0, longest);
  estimate.kernel = estimate.integral = VectorXd::Zero(left.size());
  for (Index j = 0; j < rates.size(); ++j) {
    if (!(k[j] > 0.0)) continue;
    const ArrayXd decay = (-rates[j] * times).exp();
    estimate.kernel.array() += k[j] * decay;
    estimate.integral.array() += k[j] / rates[j] * (1.0 - decay);
    estimate.damping += k[j] / rates[j];
    estimate.stiffness.push_back(k[j]);
    estimate.rate.push_back(rates[j]);
  }
  estimate.inverted = inverted(left, vv, h);
  estimate.mismatch = (left - responses * k).norm() / left.norm();
  return estimate;
}

KernelEstimate estimate_kernel(std::span<const ThermalSeries> series, const KernelEstimateOptions& options) {
  const std::size_t length = series.front().velocity.size(), blocks = static_cast<std::size_t>(options.blocks);
  std::vector<ArrayXXd> sums;
  ArrayXXd all = ArrayXXd::Zero(options.lags + 1, 3);
  for (std::size_t b = 0; b < blocks; ++b) {
    sums.push_back(sums_of(series, length * b / blocks, length * (b + 1) / blocks, options.lags));
    all += sums.back();
  }
  KernelEstimate estimate = estimate_from(all, options);
  std::vector<KernelEstimate> without_one;
  for (std::size_t left_out = 0; left_out < blocks; ++left_out) {
    ArrayXXd rest = ArrayXXd::Zero(options.lags + 1, 3);
    for (std::size_t b = 0; b < blocks; ++b) {
      if (b != left_out) rest += sums[b];
    }
    without_one.push_back(estimate_from(rest, options));
  }
  const auto one = [](double value) { return VectorXd(VectorXd::Constant(1, value)); };
  estimate.kernel_error = jackknife(without_one, [](const auto& e) { return e.kernel; });
  estimate.integral_error = jackknife(without_one, [](const auto& e) { return e.integral; });
  estimate.damping_error = jackknife(without_one, [&](const auto& e) { return one(e.damping); })[0];
  estimate.temperature_error = jackknife(without_one, [&](const auto& e) { return one(e.temperature); })[0];
  return estimate;
}

}  // namespace bathline
